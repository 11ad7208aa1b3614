.PHONY: test lint bench generate dashboard

# Everything, on real servers and in a real browser where they can be had.
test:
	@tools/test.sh

lint:
	@tools/lint.sh

# The figures of docs/benchmarks.md: ratios and counts.
bench:
	go test -run '^$$' -bench . -benchtime 3x ./store ./sources/kafka ./web

generate:
	go tool templ generate

dashboard:
	go build -trimpath -o dashboard ./cmd/dashboard
