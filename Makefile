.PHONY: test build lint generate
build:
	go build -trimpath -o dashboard ./cmd/dashboard

test:
	go vet ./...
	go test ./...

generate:
	go tool templ generate
