package sourcetest

import "testing"

func TestSQSServersAnswerAsAWSDoes(t *testing.T) {
	for _, server := range SQSEndpoints() {
		t.Run(server.Name, func(t *testing.T) {
			SQSProtocol(t, server.Start(t), server.Differs)
		})
	}
}
