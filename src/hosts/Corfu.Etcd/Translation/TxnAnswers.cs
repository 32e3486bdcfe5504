namespace Corfu.Etcd.Translation;

/// <summary>Answers to transactions. Headers of operations have a revision alone: the one that the operation saw or
/// made; those of nested transactions are empty. So are etcd's.</summary>
internal static class TxnAnswers
{
    /// <param name="header">The whole answer's.</param>
    public static TxnResponse Answer(TxnRequest request, StoreResult result, ResponseHeader header)
    {
        var operations = result.Succeeded ? request.Success : request.Failure;
        var seen = new Seen(Changes(result.Answers) ? result.Revision - 1 : result.Revision);
        return Answer(operations, result.Succeeded, result.Answers, header, seen);
    }

    public static PutResponse Answer(PutAnswer put, ResponseHeader header) => new()
    {
        Header = header,
        PrevKv = put.Previous is { } before ? Ranges.ToKeyValue(before) : null,
    };

    public static DeleteRangeResponse Answer(DeleteAnswer delete, ResponseHeader header)
    {
        var answer = new DeleteRangeResponse { Header = header, Deleted = delete.Count };
        answer.PrevKvs.AddRange(delete.Previous.Select(Ranges.ToKeyValue));
        return answer;
    }

    private static TxnResponse Answer(IList<RequestOp> operations, bool succeeded,
        ImmutableArray<StoreAnswer> answers, ResponseHeader header, Seen seen)
    {
        var answer = new TxnResponse { Header = header, Succeeded = succeeded };
        for (var i = 0; i < answers.Length; i++) answer.Responses.Add(Answer(operations[i], answers[i], seen));
        return answer;
    }

    private static ResponseOp Answer(RequestOp operation, StoreAnswer answer, Seen seen)
    {
        switch (answer)
        {
            case PutAnswer put:
                seen.Changed = true;
                return new ResponseOp { ResponsePut = Answer(put, seen.ToHeader()) };
            case DeleteAnswer delete:
                seen.Changed |= delete.Count > 0;
                return new ResponseOp { ResponseDeleteRange = Answer(delete, seen.ToHeader()) };
            case GetAnswer get:
                return new ResponseOp
                {
                    ResponseRange = RangeAnswers.Answer(operation.RequestRange, get.Found, seen.ToHeader()),
                };
            default:
                var nested = (NestedAnswer)answer;
                var request = operation.RequestTxn;
                return new ResponseOp
                {
                    ResponseTxn = Answer(nested.Succeeded ? request.Success : request.Failure, nested.Succeeded,
                        nested.Answers, new ResponseHeader(), seen),
                };
        }
    }

    private static bool Changes(ImmutableArray<StoreAnswer> answers) => answers.Any(static answer => answer switch
    {
        PutAnswer => true,
        DeleteAnswer delete => delete.Count > 0,
        NestedAnswer nested => Changes(nested.Answers),
        _ => false,
    });

    /// <summary>The revision as the operations of a transaction see it, one after the other.</summary>
    private sealed class Seen(long before)
    {
        public bool Changed { get; set; }

        public ResponseHeader ToHeader() => new() { Revision = Changed ? before + 1 : before };
    }
}
