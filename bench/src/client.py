"""The hierarchy in a client's dictionaries: python3 client.py EDGES NAMES, both files of tab separated lines.

Prints seconds to load, resident MB, then microseconds: p50 and mean of one entity, p50 of a hundred (3 levels up, 3 down), and
last the number of rows.
"""
import sys
import time

UP = DOWN = 3


def load(path):
    up, down = {}, {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            tree, parent, child = line.rstrip("\n").split("\t")
            up.setdefault(child, {}).setdefault(tree, []).append(parent)
            down.setdefault(parent, {}).setdefault(tree, []).append(child)
    return up, down


def walk(edges, name, relation, levels, rows):
    for tree in edges.get(name, ()):
        seen, level = {name}, [name]
        for depth in range(1, levels + 1):
            reached = []
            for node in level:
                for other in edges.get(node, {}).get(tree, ()):
                    if other not in seen:
                        seen.add(other)
                        reached.append(other)
                        rows.append((name, tree, relation, depth, other))
            level = reached


def context(up, down, name):
    rows = []
    walk(up, name, "ancestor", UP, rows)
    walk(down, name, "descendant", DOWN, rows)
    return rows


start = time.perf_counter()
up, down = load(sys.argv[1])
loaded = time.perf_counter() - start
with open("/proc/self/statm", encoding="ascii") as statm:
    resident = int(statm.read().split()[1]) * 4096 / 1e6
with open(sys.argv[2], encoding="utf-8") as lines:
    names = lines.read().split("\n")
spent = []
for name in names:
    start = time.perf_counter()
    context(up, down, name)
    spent.append((time.perf_counter() - start) * 1e6)
hundred = sorted(sum(spent[i:i + 100]) for i in range(0, len(spent) - 99, 100))
rows = sum(len(context(up, down, name)) for name in names)
print(loaded, resident, sorted(spent)[len(spent) // 2], sum(spent) / len(spent), hundred[len(hundred) // 2], rows)
