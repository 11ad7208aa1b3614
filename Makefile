.PHONY: test lint bench campaign-redrive campaign-mutations soak generate dashboard

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
	go test -run '^$$' -bench 'Redrive$$' -benchtime 3x -timeout 30m ./cmd/dashboard
	go test -run '^$$' -bench 'RedriveSQS' -benchtime 3x -timeout 30m ./cmd/dashboard

# Kills redrives and their brokers for half an hour and more, and writes what
# became of each letter to docs/campaign-redrive.md. See cmd/dashboard/campaign.
campaign-redrive:
	go test -tags campaign -run '^TestCampaign$$' -timeout 3h -v ./cmd/dashboard/campaign

# Breaks guard rails on purpose; the campaign must notice each.
campaign-mutations:
	go test -tags campaign -run '^TestMutations$$' -timeout 2h -v ./cmd/dashboard/campaign

# An hour of all that goes on in a healthy cluster: nothing of it is to page.
soak:
	go test -tags campaign -run '^TestSoak$$' -timeout 3h -v ./cmd/dashboard/nights

generate:
	go tool templ generate

dashboard:
	go build -trimpath -o dashboard ./cmd/dashboard
