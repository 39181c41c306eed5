#!/bin/sh
# Rebuilds ../lib from the locked npm packages and installs axe-core for the
# browser test. Node.js is needed only here; ../lib is committed.
set -eu
cd "$(dirname "$0")"
npm ci --ignore-scripts --no-audit --no-fund
mkdir -p ../lib
minify() {
	go tool -modfile=../../tools.mod esbuild "$1" --minify --target=es2022 --log-level=warning --outfile="$2"
}
minify node_modules/htmx.org/dist/htmx.js ../lib/htmx.js
minify node_modules/htmx-ext-sse/dist/sse.js ../lib/sse.js
minify timeline.js ../lib/timeline.js
minify sitting.js ../lib/sitting.js

# The packages that are in the bundle are those that esbuild has read.
used=$(mktemp)
trap 'rm -f "$used"' EXIT
go tool -modfile=../../tools.mod esbuild editor.js --bundle --format=iife --minify --target=es2022 --log-level=warning \
	--legal-comments=none --metafile="$used" --outfile=../lib/editor.js
bundled=$(grep -o '"node_modules/[^"]*": *{' "$used" | sed -E 's,^"node_modules/((@[^/]*/)?[^/]*)/.*,\1,' | sort -u)

# A minifier keeps no licence, so they stand beside the scripts.
for name in htmx.org htmx-ext-sse $bundled; do
	dir=node_modules/$name
	printf '== %s %s\n\n' "$name" "$(sed -n 's/^ *"version": *"\(.*\)".*/\1/p' "$dir/package.json")"
	cat "$dir"/LICENSE* 2>/dev/null || sed -n 's/^ *"license": *"\(.*\)".*/License: \1/p' "$dir/package.json"
	printf '\n'
done >../lib/LICENSES.txt
