namespace Craq.Learning;

/// <summary>Compares the committed objects of a chain's members by the digests that learners use (CRAQ 5.3). Changes
/// nothing; values are not read.</summary>
/// <param name="call">Asks a member; throws where it does not answer.</param>
internal sealed class ReplicaComparison(ChainConfig config,
    Func<NodeId, ReconcileRequest, CancellationToken, Task<ReconcileResponse>> call, TimeProvider time)
{
    /// <summary>Objects that are named. More of them say nothing new.</summary>
    public const int MaxFound = 1000;

    private const int Attempts = 50;
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(100);

    private readonly ImmutableArray<NodeId> _members = [.. config.Members.Select(member => member.Node)];

    /// <summary>Objects that differ, and those that were written again and again while they were compared.</summary>
    /// <exception cref="CorfuException">A member does not answer, or answers for another epoch.</exception>
    public async Task<(ImmutableArray<FoundDifference> Differences, int Unsettled)> RunAsync(
        CancellationToken cancellationToken)
    {
        var suspects = await SuspectAsync(cancellationToken);
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
            var answers = await AskAsync(until, asked, cancellationToken);
            for (var i = 0; i < asked.Length; i++)
            {
                var prefix = asked[i];
                HashBucket[] buckets = [.. answers.Select(answer => answer.Buckets[i])];
                if (buckets.All(bucket => bucket.Digests.IsEmpty))
                    suspects.UnionWith(Differing(buckets).Select(hash => hash.High));
                else Split(prefix, buckets, open);
            }
        }

        return suspects;
    }

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

    private static IEnumerable<KeyHash> Differing(HashBucket[] buckets)
    {
        Dictionary<KeyHash, ObjectVersion>[] held =
            [.. buckets.Select(bucket => bucket.Keys.ToDictionary(key => key.Hash, key => key.Version))];
        return held.SelectMany(own => own.Keys).Distinct()
            .Where(hash => held.Any(own => own.GetValueOrDefault(hash) != held[0].GetValueOrDefault(hash)));
    }

    // No member has a committed version above the base, before the answer or in it: what differs now is no write under
    // way. Else the objects are looked at again.
    private async Task SettleAsync(SortedSet<ulong> suspects, ImmutableArray<FoundDifference>.Builder found,
        CancellationToken cancellationToken)
    {
        var until = await BaseAsync(cancellationToken);
        foreach (var part in suspects.ToArray().Chunk(ReconcileRequest.MaxPrefixes))
        {
            var answers = await AskAsync(
                until, [.. part.Select(high => new HashPrefix(HashPrefix.MaxLength, high))], cancellationToken);
            if (answers.Any(answer => answer.Base != until)) continue;
            for (var i = 0; i < part.Length; i++)
            {
                suspects.Remove(part[i]);
                HashBucket[] buckets = [.. answers.Select(answer => answer.Buckets[i])];
                foreach (var hash in Differing(buckets))
                {
                    ObjectVersion[] versions = [.. buckets.Select(bucket =>
                        bucket.Keys.FirstOrDefault(key => key.Hash == hash).Version)];
                    found.Add(new FoundDifference(hash,
                        await NameAsync(hash, versions, until, cancellationToken), [.. versions]));
                }
            }
        }
    }

    private async Task<ObjectKey?> NameAsync(
        KeyHash hash, ObjectVersion[] versions, ObjectVersion until, CancellationToken cancellationToken)
    {
        var holder = Array.FindIndex(versions, version => !version.IsNone);
        var answer = await call(_members[holder],
            new ReconcileRequest(config.Epoch, config.Id, until, [], [hash]), cancellationToken);
        // A member that cannot read the object does not say its key.
        if (!answer.IsOk || answer.Records is not [{ IsEmpty: false } record]) return null;
        return RecordCodec.Decode(record).Writes is [var write] ? write.Key.ToOwned() : (ObjectKey?)null;
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

    private async Task<ReconcileResponse[]> AskAsync(
        ObjectVersion until, ImmutableArray<HashPrefix> prefixes, CancellationToken cancellationToken)
    {
        var answers = Checked(await Task.WhenAll(_members.Select(member => call(member,
            new ReconcileRequest(config.Epoch, config.Id, until, prefixes, []), cancellationToken))));
        return answers.All(answer => answer.Buckets.Length == prefixes.Length)
            ? answers
            : throw new MalformedDataException("A bucket is missing.");
    }

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

/// <param name="Key">Null: the member that has the object cannot read it.</param>
/// <param name="Versions">Versions in the chain's order; none: the member has no such object.</param>
internal sealed record FoundDifference(KeyHash Hash, ObjectKey? Key, ImmutableArray<ObjectVersion> Versions);
