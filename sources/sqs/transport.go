package sqs

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

const (
	// dialLimit is how long an endpoint may take to accept a connection.
	dialLimit = 5 * time.Second
	// answerLimit is how long an answer may take; a long poll takes up to 20 s.
	answerLimit = 30 * time.Second
)

// httpClient is the SDK's own client with limits of ours. It is the SDK's
// because only that takes the authorities of AWS_CA_BUNDLE.
func httpClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialLimit }).
		WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = 2 * callsAtOnce
			t.ResponseHeaderTimeout = answerLimit
		})
}

// WholeRequests reads each request's body before it is sent. The SDK closes the
// body as soon as the answer's headers are in; net/http, which may still be
// reading it, then closes the connection under the answer, and a ReceiveMessage
// is lost whose messages stay hidden (aws-sdk-go-v2 issues 1825, 2737, 2935).
func WholeRequests(next aws.HTTPClient) aws.HTTPClient { return wholeRequests{next} }

type wholeRequests struct{ next aws.HTTPClient }

// Do sends a request whose body nobody else can close.
func (c wholeRequests) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return c.next.Do(r)
	}
	body, err := io.ReadAll(r.Body)
	if closeErr := r.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("read a request's own body: %w", err)
	}
	whole := r.Clone(r.Context())
	whole.Body = io.NopCloser(bytes.NewReader(body))
	whole.ContentLength = int64(len(body))
	return c.next.Do(whole)
}
