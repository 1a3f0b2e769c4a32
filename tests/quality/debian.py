#!/usr/bin/env python3
"""Loads the packages of this machine's Debian, and the questions of debian_questions.tsv, into a database, for budget.sql.

Usage: debian.py [DATABASE, default cftrag_debian]; the server is the one that libpq finds. Prints "skipped" where apt knows no packages. Drops the database first.
    psql -d cftrag_debian -f tests/quality/budget.sql

Data: what `apt-cache dumpavail` prints, of the sections below without -doc, -dbg, -dev. Hierarchy: area > section > package, a package of the same source as one of
the source's name below that one; virtual package > who provides it (two to forty); task > what it recommends. A document says one thing about a package: what it is,
what it depends on, recommends, conflicts with, provides, its size and version, its maintainer. Other names: what one package alone provides, "numpy" of
python3-numpy, and the abbreviations below. The questions, 50, were written by hand over Debian 12 (bookworm); one whose gold is not here is left out, with a line.
"""
import os, re, shutil, subprocess, sys, tempfile

AREAS = {
    'Desktop environments': {'gnome': 'GNOME', 'kde': 'KDE', 'xfce': 'Xfce', 'gnustep': 'GNUstep', 'x11': 'X Window System'},
    'Programming languages': {'python': 'Python', 'php': 'PHP', 'interpreters': 'Interpreters'},
    'Internet': {'mail': 'Mail', 'news': 'Newsgroups', 'web': 'Web Software', 'httpd': 'Web Servers', 'net': 'Network'},
    'System': {'admin': 'Administration Utilities', 'shells': 'Shells', 'kernel': 'Kernels', 'utils': 'Utilities'},
    'Multimedia': {'sound': 'Sound', 'video': 'Video', 'graphics': 'Graphics', 'fonts': 'Fonts'},
    'Science and education': {'science': 'Science', 'math': 'Mathematics', 'education': 'Education', 'electronics': 'Electronics', 'hamradio': 'Ham Radio'},
    'Documents and data': {'text': 'Text Processing', 'tex': 'TeX', 'editors': 'Editors', 'database': 'Databases', 'vcs': 'Version Control Systems'},
    'Other software': {'games': 'Games', 'misc': 'Miscellaneous', 'comm': 'Communication Programs', 'embedded': 'Embedded Software', 'tasks': 'Tasks'},
}
ABBREVIATIONS = {'postgres': 'postgresql', 'sshd': 'openssh-server', 'kubectl': 'kubernetes-client', 'Firefox': 'firefox-esr', 'GNU Image Manipulation Program': 'gimp', 'Vi IMproved': 'vim',
                 'MTA': 'mail-transport-agent', 'VCS': 'Version Control Systems', 'MariaDB': 'mariadb-server', 'apache httpd': 'apache2'}

here = os.path.dirname(os.path.abspath(__file__))
database = sys.argv[1] if len(sys.argv) > 1 else 'cftrag_debian'
available = subprocess.run(['apt-cache', 'dumpavail'], capture_output=True).stdout.decode('utf8', 'replace') if shutil.which('apt-cache') else ''
packages = {}
for stanza in available.split('\n\n'):
    fields, key = {}, None
    for line in stanza.split('\n'):
        if line[:1] in (' ', '\t'):
            fields[key] += '\n' + line.strip()
        elif ':' in line:
            key, value = line.split(':', 1)
            fields[key] = value.strip()
    title = next((s[fields['Section']] for s in AREAS.values() if fields.get('Section') in s), None)
    if title and 'Package' in fields and not re.search(r'-(doc|dbg|dbgsym|dev)$', fields['Package']):
        packages.setdefault(fields['Package'], dict(fields, title=title))
if len(packages) < 5000:
    print('skipped: apt has no lists of packages')
    sys.exit(0)

bare = lambda field: [n for n in (re.sub(r'[\s(:\[].*', '', p.strip()) for p in re.split('[,|]', field)) if n]
spaced = lambda field: re.sub(r'\s+', ' ', field)
titles = {t for s in AREAS.values() for t in s.values()}
edges, aliases, documents = set(), set(), []
for area, sections in AREAS.items():
    edges.add(('Debian packages', area))
    for title in sections.values():
        edges.add((area, title))
        documents.append(('section/' + title, 'The section ' + title, f'Packages of Debian: {title} ({area}).', title))
provides = {}
for name, p in packages.items():
    source = re.sub(r' .*', '', p.get('Source', name))
    if source != name and source in packages and packages[source]['title'] == p['title']:
        edges.add((source, name))
    else:
        edges.add((p['title'], name))
    for virtual in set(bare(p.get('Provides', ''))) - {name}:
        provides.setdefault(virtual, []).append(name)
    if p['title'] == 'Tasks':
        edges.update((name, n) for n in bare(p.get('Depends', '') + ',' + p.get('Recommends', '')) if n in packages and n not in ('tasksel', name))
    short, _, long = p.get('Description-en', p.get('Description', '')).partition('\n')
    text = short + '.' + (' ' + re.sub(r'\s+', ' ', re.sub(r'(?m)^\.$', '', long)) if long else '')
    tags = [t.split('::', 1)[1].replace('-', ' ') for t in re.split(r',\s*', p.get('Tag', '')) if '::' in t]
    if tags: text += ' Tags: ' + ', '.join(tags) + '.'
    add = lambda what, title, body: documents.append(('%s/%s' % (name, what), title % name, body, name))
    add('description', 'What %s is', text)
    if p.get('Depends') or p.get('Pre-Depends'): add('depends', 'What %s depends on', spaced(', '.join(filter(None, (p.get('Pre-Depends'), p.get('Depends'))))) + '.')
    if p.get('Recommends') or p.get('Suggests'):
        add('recommends', 'What %s recommends and suggests', spaced(' '.join(w + ' ' + p[f] + '.' for w, f in (('It recommends', 'Recommends'), ('It suggests', 'Suggests')) if p.get(f))))
    if p.get('Conflicts') or p.get('Breaks') or p.get('Replaces'):
        add('conflicts', 'What %s conflicts with, breaks and replaces', spaced(' '.join(w + ' ' + p[f] + '.' for w, f in (('It conflicts with', 'Conflicts'), ('It breaks', 'Breaks'), ('It replaces', 'Replaces')) if p.get(f))))
    if p.get('Provides'): add('provides', 'What %s provides', spaced(p['Provides']) + '.')
    add('size', 'Size and version of %s', 'Version %s, installed size %s kB, download size %s bytes, architecture %s, priority %s.' % (p.get('Version'), p.get('Installed-Size', 'unknown'), p.get('Size'), p.get('Architecture'), p.get('Priority')))
    add('maintainer', 'Maintainer and homepage of %s', 'Maintained by %s.%s Source package %s.' % (p.get('Maintainer'), ' Homepage ' + p['Homepage'] + '.' if 'Homepage' in p else '', source))
known = set(packages) | titles | set(AREAS)
for virtual, names in provides.items():
    if virtual in packages and len(names) == 1: continue
    if 2 <= len(names) <= 40:
        edges.update((virtual, n) for n in names if n != virtual)
        if virtual not in packages: edges.add(('Virtual packages', virtual))
        known.add(virtual)
    elif len(names) == 1 and not re.match(r'python3?[.-]|lib', virtual): aliases.add((virtual, names[0]))
edges.add(('Debian packages', 'Virtual packages'))
for name in packages:
    m = re.match(r'python3-(.{3,})$', name)
    if m and m.group(1) not in known: aliases.add((m.group(1), name))
aliases.update((a, e) for a, e in ABBREVIATIONS.items() if a not in known)
edges = {e for e in edges if e[0] != e[1]}
aliases = {a for a in aliases if a[0] not in known}

ids, questions = {d[0] for d in documents}, []
with open(os.path.join(here, 'debian_questions.tsv'), encoding='utf8') as f:
    for line in f.read().split('\n')[1:]:
        if not line: continue
        q = line.split('\t')
        gold = [g for g in q[4].split('|') if g in ids]
        if len(gold) < len(q[4].split('|')): print('not here, of question %s: %s' % (q[0], ' '.join(set(q[4].split('|')) - ids)))
        if gold: questions.append((q[0], q[1], q[2], q[3], '{' + ','.join('"%s"' % g for g in gold) + '}'))
unknown = {q[3] for q in questions if q[1] == 'unknown'}

out = tempfile.mkdtemp()
escape = lambda s: s.replace('\\', '\\\\').replace('\t', '\\t').replace('\n', '\\n').replace('\r', '')
def write(name, rows):
    with open('%s/%s' % (out, name), 'w', encoding='utf8') as f:
        f.writelines('\t'.join(map(escape, r)) + '\n' for r in rows)
write('documents', documents)
write('entity_edges', sorted(edges))
write('known_edges', sorted(e for e in edges if e[0] not in unknown and e[1] not in unknown))
write('alias', sorted(aliases))
write('known_alias', sorted(a for a in aliases if a[1] not in unknown and a[0] not in unknown))
write('of_kind', questions)
psql = ['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-P', 'pager=off', '-P', 'footer=off']
subprocess.run(psql + ['-d', 'postgres', '-c', 'SET client_min_messages = warning', '-c', 'DROP DATABASE IF EXISTS ' + database, '-c', 'CREATE DATABASE ' + database], check=True)
subprocess.run(psql + ['-d', database], check=True, cwd=out, input=rb"""
SET client_min_messages = warning;
CREATE EXTENSION cftrag CASCADE;
CREATE TABLE documents (id text PRIMARY KEY, title text NOT NULL, body text NOT NULL, entity text NOT NULL, embedding vector(3), content text GENERATED ALWAYS AS (title || '. ' || body) STORED,
    words tsvector GENERATED ALWAYS AS (to_tsvector('english', title || '. ' || body)) STORED);
CREATE TABLE entity_edges (parent text, child text);
CREATE TABLE known_edges (LIKE entity_edges);
CREATE TABLE alias (alias text, entity text);
CREATE TABLE known_alias (LIKE alias);
CREATE TABLE of_kind (id text PRIMARY KEY, kind text, question text, entity text, gold text[]);
\copy documents (id, title, body, entity) FROM 'documents'
\copy entity_edges FROM 'entity_edges'
\copy known_edges FROM 'known_edges'
\copy alias FROM 'alias'
\copy known_alias FROM 'known_alias'
\copy of_kind FROM 'of_kind'
CREATE INDEX ON entity_edges (child, parent);
CREATE INDEX ON entity_edges (parent, child);
CREATE INDEX ON known_edges (child, parent);
CREATE INDEX ON known_edges (parent, child);
CREATE INDEX ON documents (entity);
CREATE INDEX ON documents USING gin (words);
SELECT cft_attach('entity_edges') \g /dev/null
SELECT cft_attach('known_edges') \g /dev/null
SELECT cft_attach_aliases('alias', edges => 'entity_edges') \g /dev/null
SELECT cft_attach_aliases('known_alias', edges => 'known_edges') \g /dev/null
SELECT cft_attach_documents('documents', body => 'content', embedding => 'embedding', entity => 'entity', search => 'words') \g /dev/null
-- ANALYZE reads all rows then, so that two loads have the same statistics of words.
ALTER TABLE documents ALTER id SET STATISTICS 1000;
VACUUM ANALYZE;
SELECT cft_build(t::regclass) FROM unnest('{entity_edges,known_edges,alias,known_alias}'::text[]) AS t \g /dev/null
SELECT count(*) AS documents, count(DISTINCT entity) AS entities, round(avg(length(content) / 4.0)) AS tokens, (SELECT count(*) FROM entity_edges) AS edges, (SELECT count(*) FROM alias) AS aliases FROM documents;
""")
shutil.rmtree(out)
