#!/usr/bin/env bash
# Everything that shows that Unwedge works: unit tests, the real servers, the
# browser. It installs no system package; what is missing is skipped, said at
# the end, and with CI=true a failure.
set -uo pipefail
cd "$(dirname "$0")/.."

export UNWEDGE_TEST_CACHE=${UNWEDGE_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/unwedge-test}
export UNWEDGE_TEST_REPORT=$(mktemp)
trap 'rm -f "$UNWEDGE_TEST_REPORT"' EXIT
mkdir -p "$UNWEDGE_TEST_CACHE"

axe=$UNWEDGE_TEST_CACHE/axe/node_modules/axe-core/axe.min.js
if [ ! -s "$axe" ] && command -v npm >/dev/null; then
  npm install --silent --no-save --no-package-lock --prefix "$UNWEDGE_TEST_CACHE/axe" axe-core@4.14.1 >&2 || true
fi
[ -s "$axe" ] && export UNWEDGE_AXE=$axe

flags=()
[ "${CI:-}" = true ] && flags+=(-race)

go vet ./... && go tool templ generate -check && go test "${flags[@]}" -p 2 -timeout 14m ./...
status=$?

printf '\n%-44s %-16s %-10s %s\n' 'package' 'server' 'version' 'outcome'
sort -u "$UNWEDGE_TEST_REPORT" | while IFS=$'\t' read -r package server version outcome; do
  printf '%-44s %-16s %-10s %s\n' "$package" "$server" "$version" "$outcome"
done
if grep -q 'skipped' "$UNWEDGE_TEST_REPORT"; then
  echo 'Something was skipped: what is missing here stands above.'
  [ "${CI:-}" = true ] && status=1
fi
exit $status
