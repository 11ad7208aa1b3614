package sqs

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// HTTPClient is a client for the AWS SDK, whose answers do not get lost: see
// WholeRequests.
func HTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialLimit, KeepAlive: 30 * time.Second}).DialContext
	transport.MaxIdleConnsPerHost = 2 * callsAtOnce
	transport.ResponseHeaderTimeout = answerLimit
	return &http.Client{Transport: WholeRequests(transport)}
}

const (
	// dialLimit is how long an endpoint may take to accept a connection.
	dialLimit = 5 * time.Second
	// answerLimit is how long an answer may take; a long poll takes up to 20 s.
	answerLimit = 30 * time.Second
)

// WholeRequests reads each request's body before it is sent. The SDK closes the
// body as soon as the answer's headers are in; net/http, which may still be
// reading it, then closes the connection under the answer, and a ReceiveMessage
// is lost whose messages stay hidden (aws-sdk-go-v2 issues 1825, 2737, 2935).
func WholeRequests(next http.RoundTripper) http.RoundTripper { return wholeRequests{next} }

type wholeRequests struct{ next http.RoundTripper }

func (t wholeRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return t.next.RoundTrip(r)
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
	return t.next.RoundTrip(whole)
}
