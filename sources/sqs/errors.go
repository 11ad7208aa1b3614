package sqs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/unwedge/unwedge/sources"
)

// ErrNotDeadLetters is a queue that nothing says is a dead-letter queue: it is
// never received from, because a receive hides messages from its consumer and
// counts towards its redrive policy.
var ErrNotDeadLetters = errors.New("not a dead-letter queue: no redrive policy and no pattern of dead_letters names it")

// code is an error's code as SQS gives it: what follows the # of a shape, as
// ElasticMQ answers, and the last part of an old query code.
func code(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	c := api.ErrorCode()
	return c[strings.LastIndexAny(c, "#.")+1:]
}

// throttled are the answers that ask for patience, without the ending
// Exception: nothing was done.
var throttled = []string{"RequestThrottled", "Throttling", "Throttled", "RequestLimitExceeded", "TooManyRequests", "SlowDown", "OverLimit", "KmsThrottled"}

func isThrottled(err error) bool {
	return slices.Contains(throttled, strings.TrimSuffix(code(err), "Exception")) || status(err) == http.StatusTooManyRequests
}

func isNoQueue(err error) bool {
	var gone *types.QueueDoesNotExist
	return errors.As(err, &gone) || slices.Contains([]string{"QueueDoesNotExist", "NonExistentQueue"}, code(err))
}

// denials are the answers to credentials that are wrong or may not.
var denials = []string{
	"AccessDenied", "AccessDeniedException", "AuthFailure", "UnauthorizedOperation", "InvalidSecurity", "KmsAccessDenied",
	"UnrecognizedClientException", "InvalidClientTokenId", "SignatureDoesNotMatch", "InvalidSignatureException",
	"ExpiredToken", "ExpiredTokenException", "IncompleteSignature", "MissingAuthenticationToken", "OptInRequired",
}

func isDenied(err error) bool { return slices.Contains(denials, code(err)) }

func status(err error) int {
	var resp *awshttp.ResponseError
	if errors.As(err, &resp) {
		return resp.HTTPStatusCode()
	}
	return 0
}

// readable says what an error of a call means, with the sentinel that callers
// look for. action is the IAM action that the call needs.
func readable(action, queue string, err error) error {
	switch {
	case err == nil:
		return nil
	case isNoQueue(err):
		return fmt.Errorf("%s: %w", queue, sources.ErrNoSuchQueue)
	case isDenied(err):
		return fmt.Errorf("%w: needs sqs:%s on %s: %s", sources.ErrNotAuthorised, action, queue, message(err))
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("sqs:%s on %s: %w", action, queue, err)
	}
	return fmt.Errorf("sqs:%s on %s: %s", action, queue, message(err))
}

// message is an error in the words of the service, without the SDK's preamble
// and request ids.
func message(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return strings.TrimSuffix(code(err)+": "+api.ErrorMessage(), ": ")
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return network.Error()
	}
	if resp := status(err); resp != 0 {
		return fmt.Sprintf("an answer that is none of SQS, HTTP status %d", resp)
	}
	return err.Error()
}

// isHandle tells an answer, by its code and words, that says that a receipt
// handle does not work any more: SQS has three codes for it, and emulators say
// InvalidParameterValue of one that has expired, as SQS itself does of FIFO queues.
func isHandle(code, message string) bool {
	code = strings.TrimSuffix(code[strings.LastIndexAny(code, "#.")+1:], "Exception")
	switch code {
	case "ReceiptHandleIsInvalid", "InvalidReceiptHandle", "MessageNotInflight":
		return true
	case "InvalidParameterValue":
		text := strings.ToLower(strings.ReplaceAll(message, " ", ""))
		return strings.Contains(text, "receipthandle")
	}
	return false
}

// ofHandles is an error of a call about messages that were received: errHandle
// when it is that a handle does not work any more.
func ofHandles(action, queue string, err error) error {
	why := readable(action, queue, err)
	if err != nil && isHandle(code(err), message(err)) {
		return fmt.Errorf("%w: %w", errHandle, why)
	}
	return why
}

// nothingSent tells whether a request cannot have reached SQS.
func nothingSent(err error) bool {
	var dns *net.DNSError
	var network *net.OpError
	return errors.As(err, &dns) || errors.As(err, &network) && network.Op == "dial" || isThrottled(err)
}

// refused tells whether SQS answered, and said no. An answer of the 500s says
// nothing about what was done.
func refused(err error) bool {
	s := status(err)
	return code(err) != "" && s >= http.StatusBadRequest && s < http.StatusInternalServerError
}
