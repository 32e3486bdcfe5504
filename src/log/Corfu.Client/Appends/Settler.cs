namespace Corfu.Client;

/// <summary>Finds the outcomes of appends with a bound whose answers were lost, by their origins.</summary>
/// <remarks>
/// 1. The tail is brought to the bound: positions are taken and left as holes. Later grants are at or above it.
/// 2. Every position from where the appends may have begun is read, holes closed. R9: what was granted below the bound
/// and not written is junk then, and its writer never puts the entry there. With the position right below the bound in
/// a final state, every later epoch begins at or above the bound (R13): an absence is final.
/// 3. R10: where the end of the log fell back meanwhile, the positions are unwritten, and both steps are repeated.
/// </remarks>
internal sealed class Settler(Checker checker, TokenSource tokens, Reader reader, GrantedTail granted,
    Retry retry, ProjectionHolder projections, ClientClock clock, CorfuClientOptions options)
{
    private const int ReadTogether = 4096;

    public async ValueTask<ImmutableArray<AppendResult>> SettleAsync(ImmutableArray<EntryOrigin> origins,
        LogPosition from, LogPosition below, CancellationToken cancellationToken)
    {
        if (from.Epoch == Epoch.None) throw new ArgumentException("The position has no epoch.", nameof(from));
        var search = new Search(origins);
        var began = clock.GetTimestamp();
        while (true)
        {
            var (view, first) = await retry.RunAsync(
                $"Settling appends from {from}", view => FindFirstAsync(view, from, cancellationToken),
                cancellationToken);

            // 1.
            await AdvanceAsync(below, cancellationToken);

            // 2.
            if (await SearchAsync(search, first, below, cancellationToken) && projections.Current == view)
                return search.Results(isFinal: true);

            // 3.
            if (clock.GetElapsedTime(began) >= options.OperationTimeout) return search.Results(isFinal: false);
        }
    }

    private async ValueTask<Attempt<(EpochView View, LogPosition First)>> FindFirstAsync(
        EpochView view, LogPosition from, CancellationToken cancellationToken)
    {
        var first = await granted.CapAsync(view, from, cancellationToken);
        return first.IsDone ? (view, first.Value) : first.Status;
    }

    private async ValueTask AdvanceAsync(LogPosition to, CancellationToken cancellationToken)
    {
        while (true)
        {
            var tail = (await checker.CheckAsync([], cancellationToken)).Tail;
            if (tail >= to) return;
            var missing = (int)Math.Min(TokenSource.MaxTokensPerRequest, to - tail);
            await Task.WhenAll(
                Enumerable.Range(0, missing).Select(_ => tokens.TakeAsync(
                    [], [], null, 0, neverBlocks: false, cancellationToken).AsTask()));
        }
    }

    /// <returns>False: a position has no final state yet.</returns>
    private async ValueTask<bool> SearchAsync(
        Search search, LogPosition first, LogPosition below, CancellationToken cancellationToken)
    {
        for (var next = first; next < below; next += ReadTogether)
        {
            var batch = ImmutableArray.CreateBuilder<LogPosition>((int)Math.Min(ReadTogether, below - next));
            while (batch.Count < batch.Capacity) batch.Add(next + batch.Count);
            var results = await reader.ReadManyAsync(
                batch.MoveToImmutable(), ReadDetail.Headers, ReadMode.CloseHoles, cancellationToken);
            foreach (var result in results)
            {
                if (result.State == PageState.Unwritten) return false;
                search.Add(result);
            }
        }

        return true;
    }

    private sealed class Search(ImmutableArray<EntryOrigin> origins)
    {
        private readonly HashSet<EntryOrigin> _wanted = [.. origins];
        private readonly Dictionary<EntryOrigin, LogPosition> _found = [];
        private bool _isBlind;

        public void Add(LogReadResult result)
        {
            // A tombstone still says whose entry it was.
            if (result.Entry is { IsJunk: false } entry)
            {
                if (_wanted.Contains(entry.Origin)) _found.TryAdd(entry.Origin, entry.Position);
            }
            else if (result.State is PageState.Trimmed or PageState.Corrupt)
            {
                _isBlind = true;
            }
        }

        public ImmutableArray<AppendResult> Results(bool isFinal)
        {
            var absent = isFinal && !_isBlind ? AppendOutcome.NotAppended : AppendOutcome.Unknown;
            return
            [
                .. origins.Select(origin => _found.TryGetValue(origin, out var position)
                    ? new AppendResult(AppendOutcome.Appended, position, origin)
                    : new AppendResult(absent, default, origin)),
            ];
        }
    }
}
