.PHONY: test lint bench generate dashboard

# Everything, on real servers and in a real browser where they can be had.
test:
	@tools/test.sh

lint:
	@tools/lint.sh

# The figures of docs/benchmarks.md: ratios and counts.
bench:
	go test -run '^$$' -bench 'TakeLetters' -benchtime 3x ./store
	go test -run '^$$' -bench 'Lag' -benchtime 50x ./sources/kafka
	go test -run '^$$' -bench 'ReviewPage' -benchtime 300x ./cmd/dashboard

generate:
	go tool templ generate

dashboard:
	go build -trimpath -o dashboard ./cmd/dashboard
