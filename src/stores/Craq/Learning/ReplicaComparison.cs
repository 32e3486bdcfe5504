using Craq.Storage;

namespace Craq.Learning;

/// <summary>Compares the committed objects of a chain's members: versions by the digests that learners use (CRAQ 5.3),
/// contents by lists of digests. Changes nothing.</summary>
/// <param name="call">Asks a member; throws where it does not answer.</param>
/// <param name="withContents">False: versions alone, and no value is read.</param>
internal sealed class ReplicaComparison(ChainConfig config,
    Func<NodeId, ReconcileRequest, CancellationToken, Task<ReconcileResponse>> call, TimeProvider time,
    bool withContents)
{
    /// <summary>Objects that are named. More of them say nothing new.</summary>
    public const int MaxFound = 1000;

    private const int Attempts = 50;

    // A check for versions that are compared alone.
    private const ulong NotRead = 1;

    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(100);

    private static readonly KeyHash s_last = new(ulong.MaxValue, ulong.MaxValue);
    private readonly ImmutableArray<NodeId> _members = [.. config.Members.Select(member => member.Node)];

    /// <summary>Objects that differ or are damaged, and those that were written again and again while they were
    /// compared.</summary>
    /// <exception cref="CorfuException">A member does not answer, or answers for another epoch.</exception>
    public async Task<(ImmutableArray<FoundDifference> Differences, int Unsettled)> RunAsync(
        CancellationToken cancellationToken)
    {
        var suspects = await SuspectAsync(cancellationToken);
        if (withContents) await SuspectContentsAsync(suspects, cancellationToken);
        var found = ImmutableArray.CreateBuilder<FoundDifference>();
        for (var attempt = 0; suspects.Count > 0 && attempt < Attempts; attempt++)
        {
            if (attempt > 0) await Task.Delay(s_pause, time, cancellationToken);
            await SettleAsync(suspects, found, cancellationToken);
        }

        return (found.ToImmutable(), suspects.Count);
    }

    // Ranges whose digests differ are split. What is found may be writes under way: members do not stand at one mark.
    private async Task<SortedSet<ulong>> SuspectAsync(CancellationToken cancellationToken)
    {
        var until = await BaseAsync(cancellationToken);
        var suspects = new SortedSet<ulong>();
        var open = new Stack<HashPrefix>([default]);
        while (open.Count > 0 && suspects.Count < MaxFound)
        {
            var asked = Pop(open);
            var answers = await AskAsync(until, asked, null, cancellationToken);
            for (var i = 0; i < asked.Length; i++)
            {
                var prefix = asked[i];
                HashBucket[] buckets = [.. answers.Select(answer => answer.Buckets[i])];
                if (buckets.All(bucket => bucket.Digests.IsEmpty))
                    suspects.UnionWith(Differing([.. buckets.Select(Unread)]).Select(hash => hash.High));
                else Split(prefix, buckets, open);
            }
        }

        return suspects;
    }

    // Lists of the members end where each has read enough: the shortest one says how far all are compared.
    private async Task SuspectContentsAsync(SortedSet<ulong> suspects, CancellationToken cancellationToken)
    {
        ObjectHash? next = default(ObjectHash);
        while (next is { } first && suspects.Count < MaxFound)
        {
            var until = await BaseAsync(cancellationToken);
            var lists = ContentsOf(await AskAsync(
                until, [], new HashRange(new KeyHash(first.High, first.Low), s_last), cancellationToken));
            next = lists.Min(list => list.Next is { } end ? Of(end) : (ObjectHash?)null);
            suspects.UnionWith(Differing([.. lists.Select(list => list.Objects)])
                .Where(hash => next is null || Of(hash).CompareTo(next.Value) < 0).Select(hash => hash.High));
        }
    }

    private static ObjectHash Of(KeyHash hash) => new(hash.High, hash.Low);

    private static ImmutableArray<HashPrefix> Pop(Stack<HashPrefix> open)
    {
        var some = ImmutableArray.CreateBuilder<HashPrefix>();
        while (some.Count < ReconcileRequest.MaxPrefixes && open.TryPop(out var prefix)) some.Add(prefix);
        return some.ToImmutable();
    }

    private static void Split(HashPrefix prefix, HashBucket[] buckets, Stack<HashPrefix> open)
    {
        if (prefix.Length == HashPrefix.MaxLength) throw new MalformedDataException("A bucket is split too far.");
        ImmutableArray<ulong>[] sums = [.. buckets.Select(bucket =>
            bucket.Digests.IsEmpty ? Digests.Sum(prefix, bucket.Keys) : bucket.Digests)];
        for (var next = 0; next < HashBucket.Fan; next++)
        {
            if (sums.Any(own => own[next] != sums[0][next])) open.Push(prefix.Child(next));
        }
    }

    private static ImmutableArray<ObjectContent> Unread(HashBucket bucket) =>
        [.. bucket.Keys.Select(key => new ObjectContent(key.Hash, key.Version, NotRead))];

    private static IEnumerable<KeyHash> Differing(ImmutableArray<ObjectContent>[] members)
    {
        Dictionary<KeyHash, ObjectContent>[] held = [.. members.Select(own => own.ToDictionary(one => one.Hash))];
        return held.SelectMany(own => own.Keys).Distinct().Where(hash => held.Any(own =>
            !own.TryGetValue(hash, out var one) || one.IsDamaged || one != held[0].GetValueOrDefault(hash)));
    }

    // No member has a committed version above the base, before the answer or in it: what differs now is no write under
    // way. Else the objects are looked at again.
    private async Task SettleAsync(SortedSet<ulong> suspects, ImmutableArray<FoundDifference>.Builder found,
        CancellationToken cancellationToken)
    {
        var until = await BaseAsync(cancellationToken);
        foreach (var high in suspects.ToArray())
        {
            var answers = withContents
                ? await AskAsync(until, [], new HashRange(new KeyHash(high, 0), new KeyHash(high, ulong.MaxValue)),
                    cancellationToken)
                : await AskAsync(until, [new HashPrefix(HashPrefix.MaxLength, high)], null, cancellationToken);
            if (answers.Any(answer => answer.Base != until)) continue;
            suspects.Remove(high);
            ImmutableArray<ObjectContent>[] members = withContents
                ? [.. ContentsOf(answers).Select(list => list.Objects)]
                : [.. answers.Select(answer => Unread(answer.Buckets[0]))];
            foreach (var hash in Differing(members))
            {
                ImmutableArray<ObjectContent> replicas =
                    [.. members.Select(own => own.FirstOrDefault(one => one.Hash == hash))];
                found.Add(new FoundDifference(
                    hash, await NameAsync(hash, replicas, until, cancellationToken), replicas));
            }
        }
    }

    private async Task<ObjectKey?> NameAsync(KeyHash hash, ImmutableArray<ObjectContent> replicas, ObjectVersion until,
        CancellationToken cancellationToken)
    {
        // A member that cannot read the object does not say its key.
        for (var i = 0; i < replicas.Length; i++)
        {
            if (replicas[i].Version.IsNone || replicas[i].IsDamaged) continue;
            var answer = await call(_members[i],
                new ReconcileRequest(config.Epoch, config.Id, until, [], [hash]), cancellationToken);
            if (answer.IsOk && answer.Records is [{ IsEmpty: false } record]
                && RecordCodec.Decode(record).Writes is [var write])
                return write.Key.ToOwned();
        }

        return null;
    }

    // The lowest mark: every member has all that is committed up to there.
    private async Task<ObjectVersion> BaseAsync(CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            var answers = await Task.WhenAll(_members.Select(member => call(member,
                new ReconcileRequest(config.Epoch, config.Id, ObjectVersion.None, [], []), cancellationToken)));
            // Behind: a transaction holds locks as of the mark.
            if (attempt == Attempts || answers.All(answer => answer.Status != CraqStatus.Behind))
                return Checked(answers).Min(answer => answer.Base);
            await Task.Delay(s_pause, time, cancellationToken);
        }
    }

    private async Task<ReconcileResponse[]> AskAsync(ObjectVersion until, ImmutableArray<HashPrefix> prefixes,
        HashRange? contents, CancellationToken cancellationToken)
    {
        var request = new ReconcileRequest(config.Epoch, config.Id, until, prefixes, []) { Contents = contents };
        var answers = Checked(await Task.WhenAll(
            _members.Select(member => AskAsync(member, request, cancellationToken))));
        return answers.All(answer => answer.Buckets.Length == prefixes.Length)
            ? answers
            : throw new MalformedDataException("A bucket is missing.");
    }

    // Overloaded: other comparisons and learners read there.
    private async Task<ReconcileResponse> AskAsync(
        NodeId member, ReconcileRequest request, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            var answer = await call(member, request, cancellationToken);
            if (attempt == Attempts || answer.Status != Status.Overloaded) return answer;
            await Task.Delay(s_pause, time, cancellationToken);
        }
    }

    private ContentList[] ContentsOf(ReconcileResponse[] answers) =>
        [.. answers.Select((answer, i) => answer.Contents ?? throw new CorfuException(
            $"node {_members[i]} runs an earlier build, which compares versions only"))];

    private ReconcileResponse[] Checked(ReconcileResponse[] answers)
    {
        for (var i = 0; i < answers.Length; i++)
        {
            if (!answers[i].IsOk)
                throw new CorfuException($"node {_members[i]} refuses to be compared: {answers[i].Status}");
        }

        return answers;
    }
}

/// <param name="Key">Null: no member that has the object can read it.</param>
/// <param name="Replicas">In the chain's order; no version: the member has no such object.</param>
internal sealed record FoundDifference(KeyHash Hash, ObjectKey? Key, ImmutableArray<ObjectContent> Replicas);
