package alerts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// answerBytes is how much of an answer that refuses is read and told.
const answerBytes = 2 << 10

// NewClient is an HTTP client for notifiers. It follows no redirect: a page
// must not go where its configuration does not say, and a POST would arrive
// there as a GET without its body.
func NewClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.IdleConnTimeout = 30 * time.Second // pages are rare: old connections are dead ones
	return &http.Client{
		Transport:     transport,
		Timeout:       attemptFor,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Post sends a body of JSON and says what the answer means: nil for a 2xx, an
// error that wraps ErrPermanent when this body will never be taken (400, 413,
// 422), a RetryAfter when the receiver says when to come again, an error that
// wraps ErrServer for any other 5xx. Everything else may be tried again, also
// 401, 403 and 404: a configuration can be mended while a page waits. Neither the
// address nor a secret is in the error, also where the receiver gives them back
// in its answer.
func Post(ctx context.Context, client *http.Client, address string, header http.Header, body []byte, secrets ...string) error {
	_, err := Ask(ctx, client, address, header, body, secrets...)
	return err
}

// Ask is Post for receivers whose answer has to be read: its first 2 KiB, as one
// line, without the address and the secrets.
func Ask(ctx context.Context, client *http.Client, address string, header http.Header, body []byte, secrets ...string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("make a request: %w", withoutAddress(err))
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "unwedge")
	answer, err := client.Do(req)
	if err != nil {
		return "", fmt.Errorf("send: %w", withoutAddress(err))
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerBytes))
	if err != nil && answer.StatusCode/100 != 2 {
		text = append(text, " (cut off)"...)
	}
	text = blank(text, append(secrets, address))
	return printable(text), answered(answer, text, time.Now())
}

// blank takes secrets out of a foreign text.
func blank(text []byte, secrets []string) []byte {
	for _, secret := range secrets {
		if secret != "" {
			text = bytes.ReplaceAll(text, []byte(secret), []byte("***"))
		}
	}
	return text
}

// withoutAddress is an error of net/http without the URL that it prints.
func withoutAddress(err error) error {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		return withURL.Err
	}
	return err
}

func answered(answer *http.Response, text []byte, now time.Time) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	err := fmt.Errorf("answered %s: %s", answer.Status, printable(text))
	switch answer.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %w", ErrPermanent, err)
	}
	if answer.StatusCode/100 == 3 {
		err = fmt.Errorf("answered %s: redirects are not followed; name the address that it leads to", answer.Status)
	}
	if answer.StatusCode/100 == 5 {
		err = fmt.Errorf("%w: %w", ErrServer, err)
	}
	if after, ok := retryAfter(answer.Header.Get("Retry-After"), now); ok {
		return &RetryAfter{After: after, Err: err}
	}
	return err
}

// retryAfter reads both forms of the header (RFC 9110, 10.2.3).
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

// printable is a foreign text as one line.
func printable(text []byte) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))), " ")
}
