package convention

import "strings"

// receives is how often SQS handed the message out.
var receives = from(inSystem, "ApproximateReceiveCount").written(decimal)

var nserviceBusWritten = []string{
	"NServiceBus.FailedQ", "NServiceBus.ExceptionInfo.*", "NServiceBus.TimeOfFailure",
	"NServiceBus.ProcessingEndpoint", "NServiceBus.ProcessingMachine",
}

// nativeRedrive is SQS's own: it says from which queue, and never why. It goes
// together with any other.
var nativeRedrive = &convention{
	id: "sqs-native-redrive", name: "Amazon SQS redrive policy", on: onSQS,
	shape: func(v *view) bool { return v.l.System["DeadLetterQueueSourceArn"] != "" },
	queue: from(inSystem, "DeadLetterQueueSourceArn").written(arnTail), stamp: from(inSystem, "SentTimestamp").written(epochMillis),
	attempts: receives, clock: ofOriginal,
	about: "no reason; receives count looks at the dead-letter queue, too",
}

// sqsTable has the conventions of AWS services and of SQS clients.
var sqsTable = []*convention{
	{
		id: "eventbridge-scheduler-dlq", name: "Amazon EventBridge Scheduler", on: onSQS,
		any:   []string{"SCHEDULE_ARN"},
		queue: head("SCHEDULE_ARN"), way: head("TARGET_ARN").written(arnTail), class: head("ERROR_CODE"), message: head("ERROR_MESSAGE"),
		code: head("EXHAUSTED_RETRY_CONDITION"), attempts: head("RETRY_ATTEMPTS").written(decimal).plus(1), noWay: true,
		written: append(eventBridgeWritten, "SCHEDULE_ARN", "EXECUTION_ID", "SCHEDULED_TIME", "IS_PAYLOAD_TRUNCATED"),
	},
	{
		id: "eventbridge-target-dlq", name: "Amazon EventBridge rule target", on: onSQS,
		any:   []string{"RULE_ARN", "TARGET_ARN"},
		queue: head("RULE_ARN"), way: head("TARGET_ARN").written(arnTail), class: head("ERROR_CODE"), message: head("ERROR_MESSAGE"),
		code: head("EXHAUSTED_RETRY_CONDITION"), attempts: head("RETRY_ATTEMPTS").written(decimal).plus(1), noWay: true,
		written: eventBridgeWritten,
	},
	{
		id: "eventbridge-custom-bus-dlq", name: "Amazon EventBridge bus-level report", on: onSQS,
		shape: func(v *view) bool {
			return v.mentions(`"failedMessages"`) && v.finds("/subscriberArn") && v.finds("/failedMessages")
		},
		queue: body("/busArn"), way: body("/targetArn").written(arnTail), class: body("/errorCode"), message: body("/errorMessage"),
		code: body("/exhaustedRetryCondition"), attempts: body("/retryAttempts").written(decimal).plus(1), noWay: true, body: aDescription,
		about: "a report with ids of events, not the events",
	},
	{
		id: "lambda-async-dlq", name: "AWS Lambda, asynchronous invocation", on: onSQS,
		any: []string{"RequestID", "ErrorCode"}, weak: []string{"ErrorMessage"}, least: 2,
		message: head("ErrorMessage"), code: head("ErrorCode"), codeOf: lambdaCode,
		written: []string{"RequestID", "ErrorCode", "ErrorMessage"},
		about:   "does not name the function; an ErrorCode of 200 is the function's own error",
	},
	{
		id: "lambda-esm-stream", name: "AWS Lambda, Kinesis and DynamoDB event source", on: onSQS,
		shape: func(v *view) bool {
			return v.mentions("BatchInfo") && (v.finds("/KinesisBatchInfo") || v.finds("/DDBStreamBatchInfo"))
		},
		queue: body("/KinesisBatchInfo/streamArn", "/DDBStreamBatchInfo/streamArn").written(arnTail),
		way:   body("/requestContext/functionArn"), code: body("/requestContext/condition"),
		attempts: body("/requestContext/approximateInvokeCount").written(decimal), failedAt: body("/timestamp").written(anyTime),
		body: aDescription, noWay: true, about: "no payload: the stream forgets it after its retention",
	},
	{
		id: "lambda-esm-kafka", name: "AWS Lambda, Kafka event source", on: onSQS,
		shape: func(v *view) bool { return v.mentions("KafkaBatchInfo") && v.finds("/KafkaBatchInfo") },
		way:   body("/requestContext/functionArn"), code: body("/requestContext/condition"),
		attempts: body("/requestContext/approximateInvokeCount").written(decimal), failedAt: body("/timestamp").written(anyTime),
		originOf: kafkaBatch, body: aDescription, noWay: true, about: "no payload with SQS as the destination",
	},
	{
		id: "lambda-destination", name: "AWS Lambda OnFailure destination", on: onSQS,
		shape: func(v *view) bool { return v.mentions(`"functionArn"`) && v.finds("/requestContext/functionArn") },
		way:   body("/requestContext/functionArn"), code: body("/requestContext/condition"),
		class: body("/responsePayload/errorType"), message: body("/responsePayload/errorMessage"),
		stack:    body("/responsePayload/stackTrace", "/responsePayload/trace").written(jsonLines),
		attempts: body("/requestContext/approximateInvokeCount").written(decimal), failedAt: body("/timestamp").written(anyTime),
		body: aDescription, noWay: true, about: "the event is in requestPayload",
	},
	{
		id: "masstransit-sqs", name: "MassTransit", on: onSQS,
		any:   []string{"MT-Fault-Message", "MT-Reason"},
		queue: head("MT-Fault-InputAddress").written(uriTail), class: head("MT-Fault-ExceptionType"), message: head("MT-Fault-Message"),
		stack: head("MT-Fault-StackTrace"), code: head("MT-Reason"), failedAt: head("MT-Fault-Timestamp").written(iso8601),
		attempts: head("MT-Fault-RetryCount").written(decimal).plus(1),
		written:  []string{"MT-Reason", "MT-Fault-*", "MT-Host-*"},
	},
	{
		id: "nservicebus-sqs", name: "NServiceBus", on: onSQS, shape: nserviceBus,
		queue: nsb("FailedQ"), class: nsb("ExceptionInfo.ExceptionType"), root: nsb("ExceptionInfo.InnerExceptionType"),
		message: nsb("ExceptionInfo.Message"), stack: nsb("ExceptionInfo.StackTrace"), failedAt: nsb("TimeOfFailure").written(iso8601),
		written: nserviceBusWritten, about: "its headers are in the body, which goes back as it is",
	},
	{
		id: "watermill-sqs", name: "Watermill (Go) poison queue", on: onSQS,
		any:   []string{"reason_poisoned", "topic_poisoned"},
		queue: head("topic_poisoned"), message: head("reason_poisoned"), code: head("reason_poisoned"), written: []string{"*_poisoned"},
	},
	{
		id: "symfony-messenger", name: "Symfony Messenger", on: onSQS, anyCase: true, shape: symfony,
		queue:    stamp("SentToFailureTransportStamp", "originalReceiverName"),
		class:    stamp("ErrorDetailsStamp", "exceptionClass"),
		message:  stamp("ErrorDetailsStamp", "exceptionMessage"),
		attempts: stamp("RedeliveryStamp", "retryCount").plus(1),
		written:  []string{"X-Message-Stamp-*ErrorDetailsStamp", "X-Message-Stamp-*SentToFailureTransportStamp", "X-Message-Stamp-*RedeliveryStamp"},
	},
	{
		// Every Brighter message has a bag: only one with a rejection in it died.
		id: "brighter-sqs", name: "Brighter (.NET)", on: onSQS,
		any: []string{"bag"}, shape: rejectedBag,
		queue: head("bag").at("/originalTopic").or(head("bag").at("/OriginalTopic")), code: head("bag").at("/rejectionReason").or(head("bag").at("/RejectionReason")),
		message:  head("bag").at("/rejectionMessage").or(head("bag").at("/RejectionMessage")),
		failedAt: head("bag").at("/rejectionTimestamp").or(head("bag").at("/RejectionTimestamp")).written(anyTime),
	},
	{
		id: "wolverine-sqs", name: "Wolverine (.NET)", on: onSQS,
		shape: func(v *view) bool {
			return strings.HasPrefix(strings.TrimSuffix(v.l.Queue, fifoEnding), "wolverine-dead-letter-queue")
		},
		queue: envelope("original-destination").written(uriTail), class: envelope("exception-type"), message: envelope("exception-message"),
		failedAt: envelope("failed-at").written(anyTime), attempts: envelope("attempts").written(decimal),
		written: []string{"exception-type", "exception-message", "exception-stack", "failed-at", "original-destination"},
	},
	{
		id: "sns-subscription-dlq", name: "Amazon SNS subscription", on: onSQS, shape: snsEnvelope,
		queue: body("/TopicArn").written(arnTail), stamp: body("/Timestamp").written(iso8601), noWay: true,
		about: "no error; goes back to the subscriber, not to the topic: that would reach all subscribers",
	},
	{
		id: "celery-kombu-sqs", name: "Celery, Kombu", on: onSQS, body: aContentShape, shape: kombu,
		queue:    from(inEnclosed, "/properties/delivery_info/routing_key").or(body("/properties/delivery_info/routing_key")),
		attempts: receives,
	},
	{
		id: "laravel-sqs", name: "Laravel queue", on: onSQS, body: aContentShape, attempts: receives,
		shape: func(v *view) bool {
			return v.mentions(`"commandName"`) && v.finds("/job") && v.finds("/data/commandName")
		},
	},
	{
		id: "s3-event", name: "Amazon S3 event notification", on: onSQS, body: aContentShape,
		shape: func(v *view) bool { return v.mentions("aws:s3") && v.says("/Records/0/eventSource", "aws:s3") },
	},
	{
		id: "sqs-extended-client", name: "SQS Extended Client", on: onSQS, body: aContentShape, shape: extendedClient,
		about: "the payload lies in S3 and may be gone; the pointer goes back as it is",
	},
	{id: "shoryuken", name: "Shoryuken (Ruby)", on: onSQS, any: []string{"shoryuken_class"}, body: aContentShape, attempts: receives},
	{id: "spring-cloud-aws-sqs", name: "Spring Cloud AWS", on: onSQS, any: []string{"JavaType"}, body: aContentShape, attempts: receives},
	nativeRedrive,
}

var eventBridgeWritten = []string{"RULE_ARN", "TARGET_ARN", "ERROR_CODE", "ERROR_MESSAGE", "EXHAUSTED_RETRY_CONDITION", "RETRY_ATTEMPTS"}

// lambdaCode leaves out 200: the function ran, and raised.
func lambdaCode(code string) string {
	if code == "200" {
		return ""
	}
	return code
}

// says tells whether the body is JSON and has the text there.
func (v *view) says(pointer, want string) bool {
	doc, ok := v.json()
	if !ok {
		return false
	}
	got, _ := doc.Text(pointer)
	return got == want
}

// snsEnvelope is the body of a letter of SNS itself. A queue that is subscribed
// to a topic holds envelopes, too; its dead letters are the queue's.
func snsEnvelope(v *view) bool {
	return v.mentions(`"TopicArn"`) && !nativeRedrive.shape(v) && v.says("/Type", "Notification") && v.finds("/TopicArn")
}

// kombu is base64 of an envelope, or, with sqs_base64_encoding off, the
// envelope itself.
func kombu(v *view) bool {
	if doc, ok := v.enclosed(); ok {
		_, ok := doc.Lookup("/properties/delivery_info")
		return ok
	}
	return v.mentions(`"delivery_info"`) && v.finds("/properties/delivery_info")
}

func extendedClient(v *view) bool {
	if v.has("ExtendedPayloadSize") || v.has("SQSLargePayloadSize") {
		return true
	}
	return v.mentions(`"s3BucketName"`) && v.finds("/1/s3BucketName") && v.finds("/1/s3Key")
}

// nsb is an NServiceBus header: in the wrapper that is the body, or in the one
// attribute that has all of them.
func nsb(name string) fields {
	return body("/Headers/NServiceBus." + name).or(head("NServiceBus.AmazonSQS.Headers").at("/NServiceBus." + name))
}

func nserviceBus(v *view) bool {
	if v.mentions("NServiceBus.FailedQ") && v.finds("/Headers/NServiceBus.FailedQ") {
		return true
	}
	_, _, ok := v.raw(nativeRedrive, head("NServiceBus.AmazonSQS.Headers").at("/NServiceBus.FailedQ"), nil)
	return ok
}

// packed is the one attribute in which Symfony's SQS transport keeps headers
// whose names SQS does not take.
const packed = "X-Symfony-Messenger"

const stampPrefix = `X-Message-Stamp-Symfony\Component\Messenger\Stamp\`

// stamp is a field of Symfony's stamps: a list, oldest first.
func stamp(name, of string) fields {
	return head("x-message-stamp-*" + strings.ToLower(name)).at("/-1/" + of).
		or(head(packed).at("/" + stampPrefix + name + "=>/-1/" + of))
}

func symfony(v *view) bool {
	_, _, ok := v.raw(&convention{anyCase: true}, stamp("ErrorDetailsStamp", "exceptionClass").or(stamp("SentToFailureTransportStamp", "originalReceiverName")), nil)
	return ok
}

func rejectedBag(v *view) bool {
	bag := head("bag")
	_, _, ok := v.raw(nativeRedrive, bag.at("/originalTopic").or(bag.at("/rejectionReason")).or(bag.at("/OriginalTopic")).or(bag.at("/RejectionReason")), nil)
	return ok
}

// envelope is a header of Wolverine: an attribute, or inside the body.
func envelope(name string) fields {
	return head(name).or(body("/headers/"+name, "/Headers/"+name, "/"+name))
}

// kafkaBatch reads the origin of a failed batch: the one record, or the topics
// and partitions as "<topic>-<partition>", which a topic's own hyphens make
// ambiguous but for the last one.
func kafkaBatch(v *view, o *found) {
	doc, ok := v.json()
	if !ok {
		return
	}
	if at, ok := doc.Text("/KafkaBatchInfo/recordInfo/offset"); ok {
		o.offset, o.hasOffset = digits([]byte(at))
	}
	if topic, ok := doc.Text("/KafkaBatchInfo/recordInfo/topic"); ok {
		o.queue = topic
	}
	names := doc.Names("/KafkaBatchInfo/recordsInfo")
	for i, name := range names {
		at := strings.LastIndexByte(name, '-')
		if at <= 0 || i > 0 && name[:at] != o.queue {
			o.queue = ""
			return // several topics
		}
		o.queue = name[:at]
		if len(names) == 1 {
			o.partition, o.hasPartition = digits([]byte(name[at+1:]))
			first, _ := doc.Text("/KafkaBatchInfo/recordsInfo/" + strings.ReplaceAll(name, "/", "~1") + "/firstRecordOffset")
			o.offset, o.hasOffset = digits([]byte(first))
		}
	}
}
