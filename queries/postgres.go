// Package queries holds the SQL that people and the code share, one statement
// a file. Each opens with what it returns and what its parameters are, and runs
// as it is in psql.
package queries

import _ "embed"

// What the worker asks of PostgreSQL, from postgres/.
var (
	//go:embed postgres/attachments.sql
	Attachments string
	//go:embed postgres/settings.sql
	Settings string
	//go:embed postgres/waiting.sql
	Waiting string
	//go:embed postgres/claim.sql
	Claim string
	//go:embed postgres/retry_due.sql
	RetryDue string
	//go:embed postgres/retry.sql
	Retry string
	//go:embed postgres/fail.sql
	Fail string
	//go:embed postgres/succeed.sql
	Succeed string
	//go:embed postgres/requeue.sql
	Requeue string
	//go:embed postgres/problem.sql
	Problem string
	//go:embed postgres/backfill_to_split.sql
	BackfillToSplit string
	//go:embed postgres/backfill_split.sql
	BackfillSplit string
	//go:embed postgres/claim_chunk.sql
	ClaimChunk string
	//go:embed postgres/backfill_to_finish.sql
	BackfillToFinish string
	//go:embed postgres/backfill_finish.sql
	BackfillFinish string
	//go:embed postgres/backfill_deletions.sql
	BackfillDeletions string
	//go:embed postgres/lock_writing.sql
	LockWriting string
	//go:embed postgres/clustered.sql
	Clustered string
	//go:embed postgres/match.sql
	Match string
	//go:embed postgres/join_clusters.sql
	JoinClusters string
	//go:embed postgres/forget_admitted.sql
	ForgetAdmitted string
	//go:embed postgres/extract.sql
	Extract string
	//go:embed postgres/take_extraction.sql
	TakeExtraction string
	//go:embed postgres/release_extraction.sql
	ReleaseExtraction string
	//go:embed postgres/end_extraction.sql
	EndExtraction string
	//go:embed postgres/requests.sql
	Requests string
	//go:embed postgres/request_slow.sql
	RequestSlow string
	//go:embed postgres/take_request.sql
	TakeRequest string
	//go:embed postgres/answer.sql
	Answer string
	//go:embed postgres/forget_requests.sql
	ForgetRequests string
	//go:embed postgres/scan_due.sql
	ScanDue string
	//go:embed postgres/scan_done.sql
	ScanDone string
	//go:embed postgres/progress.sql
	Progress string
	//go:embed postgres/rows_like.sql
	RowsLike string
	//go:embed postgres/attachment_profile.sql
	AttachmentProfile string
	//go:embed postgres/queue_state.sql
	QueueState string
	//go:embed postgres/report.sql
	Report string
)
