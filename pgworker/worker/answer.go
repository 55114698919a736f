package worker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alike-sql/alike/queries"
	"github.com/alike-sql/alike/sketch"
	"github.com/alike-sql/alike/sketch/advise"
	"github.com/alike-sql/alike/sketch/aspect"
	"github.com/alike-sql/alike/sketch/common"
	"github.com/alike-sql/alike/sketch/simindex"
)

// A posed question is texts that a function of SQL has sent, and what is asked of them.
// The answer is made of them alone: it tells nothing of any row.
type posed struct {
	ID        int64
	Task      string
	Settings  string // a profile, a variant, or the number of an attachment
	Documents []string
}

// lookLimit is the longest document that the functions for looking take: the answer is
// many times as long.
const lookLimit = 1 << 20

// questionsTaken is how many questions are taken at a time.
const questionsTaken = 8

// answerQuestions answers what functions have asked, and reports whether there may be more
// to answer. A question is locked until it is answered: when this worker ends, another answers it.
func (w *Worker) answerQuestions(ctx context.Context) (more bool, err error) {
	_, err = answerLocked(ctx, w, queries.Questions, []any{questionsTaken}, func(ctx context.Context, tx pgx.Tx, questions []posed) error {
		start := time.Now()
		more = len(questions) == questionsTaken
		for i := range questions {
			if i > 0 && time.Since(start) > batchTime {
				more = true
				break
			}
			answer, failure := w.answerTo(ctx, tx, &questions[i])
			if err := context.Cause(ctx); err != nil {
				return err
			}
			var list, sentence *string
			if failure != nil {
				text := message(failure)
				sentence = &text
			} else {
				encoded, err := json.Marshal(answer)
				if err != nil {
					return err
				}
				text := string(encoded)
				list = &text
			}
			if _, err := tx.Exec(ctx, queries.AnswerQuestion, questions[i].ID, list, sentence); err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}

// answerLocked has the rows that a query locks answered in the same transaction, and reports
// whether there was any.
func answerLocked[T any](ctx context.Context, w *Worker, query string, args []any, answer func(ctx context.Context, tx pgx.Tx, list []T) error) (bool, error) {
	ctx, cancel := w.bound(ctx)
	defer cancel()
	tx, err := w.begin(ctx)
	if err != nil {
		return false, err
	}
	defer undo(ctx, tx)
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return false, err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil || len(list) == 0 {
		return false, err
	}
	if err := answer(ctx, tx, list); err != nil {
		return false, err
	}
	return true, tx.Commit(ctx)
}

var errTask = errors.New("the worker does not know this question; it is of an earlier release than the schema")

// answerTo computes the answer, a list.
func (w *Worker) answerTo(ctx context.Context, db querier, q *posed) ([]any, error) {
	for _, doc := range q.Documents {
		if size := int64(len(doc)); size > w.config.MaxDocument {
			return nil, w.tooLarge(size)
		}
	}
	switch q.Task {
	case "sketch":
		return sketches(ctx, q)
	case "si":
		return indexes(q)
	case "row":
		return w.rowOf(ctx, db, q)
	case "passages":
		return w.passagesOf(ctx, db, q)
	case "containments_exact":
		return containments(ctx, q)
	case "advise":
		return adviceOn(ctx, q)
	case "common":
		return w.commonOf(ctx, db, q)
	}
	p, err := sketch.ParseProfile(q.Settings)
	if err != nil {
		return nil, err
	}
	if len(q.Documents) < 1 || len(q.Documents) > 2 {
		return nil, errTask
	}
	a, b := []byte(q.Documents[0]), []byte(q.Documents[len(q.Documents)-1])
	switch q.Task {
	case "resemblance_exact":
		return ratio(sketch.ExactResemblance(p, a, b))
	case "containment_exact":
		return ratio(sketch.ExactContainment(p, a, b))
	}
	if size := max(len(a), len(b)); size > lookLimit {
		return nil, fmt.Errorf("a document of %d bytes, want at most %d", size, lookLimit)
	}
	list := []any{}
	switch q.Task {
	case "tokens":
		for token := range sketch.Tokens(p, a) {
			list = append(list, token)
		}
	case "shingles":
		for shingle, fingerprint := range sketch.Shingles(p, a) {
			list = append(list, []any{shingle, int64(fingerprint)})
		}
	case "explain":
		passages, err := sketch.Explain(p, a, b)
		if err != nil {
			return nil, err
		}
		position := func(n int) any {
			if n < 0 {
				return nil
			}
			return n + 1
		}
		for _, passage := range passages {
			list = append(list, []any{passage.Kind, passage.Text, passage.Tokens, position(passage.Left), position(passage.Right)})
		}
	default:
		return nil, errTask
	}
	return list, nil
}

// containments returns how much of some documents is in others, nil where either has no
// shingle. The shingles are those of passages.
func containments(ctx context.Context, q *posed) ([]any, error) {
	var asked struct {
		Profile        string
		Parts, Holders []int
	}
	if err := json.Unmarshal([]byte(q.Settings), &asked); err != nil || len(asked.Parts) != len(asked.Holders) {
		return nil, errTask
	}
	p, err := sketch.ParseProfile(asked.Profile)
	if err != nil {
		return nil, err
	}
	s, err := sketch.NewSketcher(p.Passages())
	if err != nil {
		return nil, err
	}
	whole := make([][]byte, len(q.Documents)) // the sketches of all shingles
	for i, doc := range q.Documents {
		if err := s.DocumentUntil([]byte(doc), func() error { return context.Cause(ctx) }); err != nil {
			return nil, err
		}
		if !s.Empty() {
			whole[i] = s.AppendSketch(nil)
		}
	}
	list := make([]any, len(asked.Parts))
	for i := range list {
		part, holder := asked.Parts[i], asked.Holders[i]
		if min(part, holder) < 0 || max(part, holder) >= len(whole) {
			return nil, errTask
		}
		if whole[part] == nil || whole[holder] == nil {
			continue
		}
		r, err := ratio(sketch.Containment(whole[part], whole[holder]))
		if err != nil {
			return nil, err
		}
		list[i] = r[0]
	}
	return list, nil
}

// ratio returns an exact ratio, or nil when neither text has a shingle.
func ratio(r float64, ok bool, err error) ([]any, error) {
	if !ok || err != nil {
		return []any{nil}, err
	}
	return []any{r}, nil
}

// sketches returns the documents' sketches in hexadecimal digits, and nil for a document without a token.
func sketches(ctx context.Context, q *posed) ([]any, error) {
	p, err := sketch.ParseProfile(q.Settings)
	if err != nil {
		return nil, err
	}
	s, err := sketch.NewSketcher(p)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(q.Documents))
	for i, doc := range q.Documents {
		if err := s.DocumentUntil([]byte(doc), func() error { return context.Cause(ctx) }); err != nil {
			return nil, err
		}
		if !s.Empty() {
			list[i] = hex.EncodeToString(s.AppendSketch(nil))
		}
	}
	return list, nil
}

// indexes are the similarity indexes of the documents, under the default profile.
func indexes(q *posed) ([]any, error) {
	v, err := simindex.Parse(q.Settings)
	if err != nil {
		return nil, err
	}
	p, err := sketch.ParseProfile("")
	if err != nil {
		return nil, err
	}
	if err := v.Check(p); err != nil {
		return nil, err
	}
	list := make([]any, len(q.Documents))
	for i, doc := range q.Documents {
		if si, ok := v.Index([]byte(doc)); ok {
			list[i] = si
		}
	}
	return list, nil
}

// computed computes the row that a document would have in an attached table. Its shingles
// are those of the profile.
func (w *Worker) computed(ctx context.Context, db querier, q *posed) (*attachment, *aspect.Row, error) {
	id, err := strconv.ParseInt(q.Settings, 10, 32)
	if err != nil || len(q.Documents) != 1 {
		return nil, nil, errTask
	}
	attachments, err := w.catalog.get(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	doc := []byte(q.Documents[0])
	c, err := w.requested(attachments[int32(id)], &request{Document: doc})
	if err != nil {
		return nil, nil, err
	}
	row, err := c.compute(ctx, sketch.ContentHash(doc), doc, "")
	return c.a, row, err
}

// rowOf is the features and the sketch that a document would have in an attached table.
func (w *Worker) rowOf(ctx context.Context, db querier, q *posed) ([]any, error) {
	a, row, err := w.computed(ctx, db, q)
	if err != nil || len(row.Sketch) == 0 {
		return []any{nil}, err
	}
	features := make([]*int64, a.profile.K)
	for i, f := range row.Features {
		features[f.Slot] = &row.Features[i].Value
	}
	return []any{map[string]any{"features": features, "sketch": hex.EncodeToString(row.Sketch), "shingles": row.Shingles}}, nil
}

// adviceOn tries the presets on the documents, a sample of a table whose rows the settings
// count.
func adviceOn(ctx context.Context, q *posed) ([]any, error) {
	rows, err := strconv.ParseInt(q.Settings, 10, 64)
	if err != nil {
		return nil, errTask
	}
	found, reason, err := advise.Presets(q.Documents, rows, func() error { return context.Cause(ctx) })
	if err != nil {
		return nil, err
	}
	list := make([]any, len(found))
	for i := range found {
		list[i] = found[i].Row(reason)
	}
	return list, nil
}

// commonOf is what more than a share of the documents have in common, under the profile of an
// attached table, with the place of a document that has each passage.
func (w *Worker) commonOf(ctx context.Context, db querier, q *posed) ([]any, error) {
	var asked struct {
		Attachment int32
		Share      float64
	}
	if err := json.Unmarshal([]byte(q.Settings), &asked); err != nil {
		return nil, errTask
	}
	attachments, err := w.catalog.get(ctx, db)
	if err != nil {
		return nil, err
	}
	a := attachments[asked.Attachment]
	if a == nil {
		return nil, errDetached
	}
	texts := make([][]byte, len(q.Documents))
	for i, doc := range q.Documents {
		texts[i] = []byte(doc)
		if media, extract := a.mediaOf(""); extract {
			if texts[i], err = w.extractor.Text(ctx, texts[i], media); err != nil {
				texts[i] = nil // it cannot be read
			}
		}
	}
	l, err := common.NewLearner[int](a.profile, asked.Share, func() error { return context.Cause(ctx) })
	if err != nil {
		return nil, err
	}
	if err := l.Learn(func(take func([]byte) error) error {
		for _, text := range texts {
			if err := take(text); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for i, text := range texts {
		if l.Example(i, text) {
			break
		}
	}
	list := []any{}
	for _, p := range l.Passages() {
		list = append(list, []any{p.Text, p.Rows, p.Share, p.Shingles, p.Example})
	}
	return list, nil
}

// passagesOf is the values of the passages that a document would have there.
func (w *Worker) passagesOf(ctx context.Context, db querier, q *posed) ([]any, error) {
	_, row, err := w.computed(ctx, db, q)
	if err != nil {
		return nil, err
	}
	return []any{map[string]any{"values": append([]int64{}, row.Passages...), "shingles": row.Shingles}}, nil
}
