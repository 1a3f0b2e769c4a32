# cftrag in the official postgres image; DEB is a package of `SUITE=bookworm make deb` or of a release, for that PG.
#   docker build --build-arg PG=15 -t cftrag . && docker run -e POSTGRES_PASSWORD=... --shm-size=1g -p 5432:5432 cftrag
# Images are in shared memory, of which Docker gives 64 MB without --shm-size.
ARG PG=15
FROM postgres:${PG}-bookworm
ARG PG=15
ARG DEB=target/deb*/postgresql-${PG}-cftrag_*.deb
COPY ${DEB} /tmp/cftrag/
# pgvector comes along, from the image's own apt repository.
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/cftrag/*.deb && \
    rm -rf /tmp/cftrag /var/lib/apt/lists/* && \
    echo "shared_preload_libraries = 'cftrag'" >>/usr/share/postgresql/postgresql.conf.sample
