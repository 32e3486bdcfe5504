using System.Collections.Immutable;
using Corfu.Protocol;
using Craq;
using Craq.Protocol;

namespace Corfu.Simulation.Craq;

// Transactions over several chains, as the shipped client sends them.
internal sealed partial class CraqWorker
{
    public async Task TransactAsync(IReadOnlyDictionary<string, ChainMutation> wanted)
    {
        var id = client.NextTransaction();
        ImmutableArray<TransactPart> parts =
        [
            .. wanted.Select(part => (Chain: ChainId.FromName(part.Key), Mutation: part.Value))
                .OrderBy(part => part.Chain)
                .Select(part => new TransactPart(part.Chain, MarkOf(part.Chain), part.Mutation.Compares,
                    part.Mutation.Reads, part.Mutation.Operations)),
        ];
        var names = wanted.Keys.ToDictionary(ChainId.FromName);
        long[] numbers = [.. parts.Select(part => Begin(id, names[part.Chain], part))];
        var answer = await TransactAsync(id, parts);
        for (var i = 0; i < parts.Length; i++)
        {
            var (part, at) = (parts[i], i);
            history.End(numbers[i], call => answer switch
            {
                null => call,
                { IsOk: true, IsCommitted: true } => Done(call, part, answer.Parts[at]),
                { IsOk: true, Reason: CraqStatus.Mismatch } when answer.Part == at => call with
                {
                    Fate = ObjectFate.Mismatch,
                    Failed = answer.Index,
                    FailedVersion = answer.Found.Value,
                },
                _ => call with { Fate = ObjectFate.Refused },
            });
            if (answer is { IsOk: true, IsCommitted: true })
                Knows(part.Chain, ObjectVersion.Max(answer.Parts[i].Mark, answer.Parts[i].Version));
        }
    }

    private long Begin(Guid id, string chain, TransactPart part) => history.Begin(new ObjectCall(
        CraqText.PartOf(id, chain), chain, ObjectMode.Mutate, 0, ObjectHistory.Never, ObjectFate.Unknown)
    {
        Session = session,
        Transaction = $"{id}",
        Tests = [.. part.Compares.Select(TestOf)],
        Acts = [.. part.Operations.Select(operation => ActOf(operation, null))],
    });

    // Null: the outcome is unknown. An answer that is not Ok: nothing was done, and nothing will be.
    private async Task<TransactResponse?> TransactAsync(Guid id, ImmutableArray<TransactPart> parts)
    {
        var isInDoubt = cluster.Plan.Network.Duplication > 0;
        TransactResponse? refused = null;
        for (var attempt = 0; attempt < MostAttempts; attempt++)
        {
            var view = await client.ViewOfAsync(parts[0].Chain, random);
            var answer = await client.CallAsync(view.Address(0), new TransactRequest(view.Config.Epoch, id, parts));
            if (answer is { IsOk: true })
            {
                cluster.Monitor.Mark(answer.IsCommitted ? "transaction answered" : "transaction aborted");
                return answer;
            }

            isInDoubt |= answer is null or { Status: CraqStatus.Unconfirmed or Status.Failed or Status.Sealed };
            refused = answer ?? refused;
            if (answer is { Status: CraqStatus.Forgotten }) break;
            await AgainAsync(parts[0].Chain);
        }

        return isInDoubt ? null : refused;
    }

    private ObjectCall Done(ObjectCall call, TransactPart part, CommittedPart done)
    {
        var sums = new Queue<ulong>(done.Result.Sums);
        return call with
        {
            Fate = ObjectFate.Done,
            Version = done.Version.Value,
            Mark = done.Mark.Value,
            Seen = [.. done.Result.Reads.Select((found, i) => SeenOf(part.Reads[i], found))],
            Acts =
            [
                .. part.Operations.Select(operation =>
                    ActOf(operation, operation.Kind == ObjectOperationKind.Add ? sums.Dequeue() : null)),
            ],
        };
    }
}

/// <summary>The part of a transaction in one chain.</summary>
internal sealed record ChainMutation(ImmutableArray<ObjectCompare> Compares, ImmutableArray<ObjectKey> Reads,
    ImmutableArray<ObjectOperation> Operations);
