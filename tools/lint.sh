#!/usr/bin/env bash
# The linters, pinned in tools/go.mod.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
files=$(git ls-files '*.go' | grep -v '_templ\.go$')
unformatted=$(go tool -modfile=tools/go.mod gofumpt -l $files) || status=1
[ -n "$unformatted" ] && { echo "gofumpt differs in:"; echo "$unformatted"; status=1; }
go tool -modfile=tools/go.mod staticcheck ./... || status=1
go tool -modfile=tools/go.mod golangci-lint run ./... || status=1
go mod tidy -diff || status=1
exit $status
