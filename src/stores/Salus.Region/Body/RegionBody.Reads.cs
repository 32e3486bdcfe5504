namespace Salus.Region.Body;

internal sealed partial class RegionBody
{
    // Files go while they are read, each time with a newer state that does without them.
    private const int MostStates = 16;

    public async ValueTask<RegionBlocks> ReadAsync(
        int first, int count, long snapshot, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(first);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, _blocks - first);
        for (var attempt = 0; attempt < MostStates; attempt++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var blocks = new ReadOnlyMemory<byte>[count];
            var isInFile = new bool[count];
            if (Look(first, snapshot, blocks, isInFile, out var status) is not { } state)
                return new RegionBlocks(status, []);
            if (await FillAsync(state, first, blocks, isInFile))
                return new RegionBlocks(Status.Ok, [.. blocks]);
            if (IsCurrent(state) || snapshot != 0) break;
        }

        return new RegionBlocks(Status.Corrupt, []);
    }

    public async ValueTask<RegionHashes> ReadTreeAsync(
        ImmutableArray<int> pages, long snapshot, CancellationToken cancellationToken)
    {
        foreach (var page in pages)
            ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)page, (uint)Pages, nameof(pages));
        for (var attempt = 0; attempt < MostStates; attempt++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (Find(snapshot, out var status) is not { } state) return Fail(status);
            var found = new IndexPage?[pages.Length];
            for (var i = 0; i < pages.Length; i++) found[i] = await ReadPageAsync(state, pages[i]);
            if (snapshot != 0) return found.Contains(null) ? Fail(Status.Corrupt) : TreeOf(state, found);

            lock (_gate)
            {
                if (!ReferenceEquals(_state, state)) continue;
                return found.Contains(null) ? Fail(Status.Corrupt) : CommittedTree(pages, found);
            }
        }

        return Fail(Status.Corrupt);
    }

    private static RegionHashes Fail(Status status) => new(status, [], []);

    private static RegionHashes TreeOf(CheckpointState state, IndexPage?[] found) =>
        new(Status.Ok, [.. state.Pages.Select(static page => page.Hash)],
            [.. found.Select(static page => Trim(page!.ToTree().LeafHashes))])
        {
            Batch = state.Batch,
        };

    private static ImmutableArray<Hash128> Trim(ReadOnlySpan<Hash128> leaves)
    {
        var end = leaves.LastIndexOfAnyExcept(default(Hash128)) + 1;
        return [.. leaves[..end]];
    }

    private RegionHashes CommittedTree(ImmutableArray<int> pages, IndexPage?[] found)
    {
        var hashes = CommittedHashes();
        var leaves = ImmutableArray.CreateBuilder<ImmutableArray<Hash128>>(pages.Length);
        for (var i = 0; i < pages.Length; i++)
        {
            var page = LeavesOf(found[i]!, pages[i]);
            // The memtable is in memory, which may be damaged too.
            if (new TreePage(page).Hash != hashes[pages[i]]) return Fail(Status.Corrupt);
            leaves.Add(Trim(page));
        }

        return new RegionHashes(Status.Ok, hashes, leaves.MoveToImmutable()) { Batch = _last };
    }

    private CheckpointState? Find(long snapshot, out Status status)
    {
        lock (_gate)
        {
            var found = snapshot == 0 ? _state : _book.Find(snapshot);
            status = found is not null ? Status.Ok
                : _unread.ContainsKey(snapshot) ? Status.Corrupt
                : SalusStatus.NotFound;
            return found;
        }
    }

    // Takes what is in memory; the rest is in files of the state.
    private CheckpointState? Look(
        int first, long snapshot, ReadOnlyMemory<byte>[] blocks, bool[] isInFile, out Status status)
    {
        lock (_gate)
        {
            var state = Find(snapshot, out status);
            if (snapshot != 0)
            {
                isInFile.AsSpan().Fill(true);
                return state;
            }

            status = Status.Corrupt;

            for (var i = 0; i < blocks.Length; i++)
            {
                if (!TryGet(first + i, out var found)) isInFile[i] = true;
                else if (found.Hash.IsEmpty) blocks[i] = default;
                else if (TreeHash.OfBlock(found.Data.Span) == found.Hash) blocks[i] = found.Data;
                else return null;
            }

            return state;
        }
    }

    private bool TryGet(int block, out MemBlock found)
    {
        if (_active.TryGet(block, out found)) return true;
        for (var i = _frozen.Length - 1; i >= 0; i--)
        {
            if (_frozen[i].TryGet(block, out found)) return true;
        }

        return false;
    }

    // False: damaged, or deleted meanwhile.
    private async ValueTask<bool> FillAsync(
        CheckpointState state, int first, ReadOnlyMemory<byte>[] blocks, bool[] isInFile)
    {
        for (var i = 0; i < blocks.Length;)
        {
            if (!isInFile[i])
            {
                i++;
                continue;
            }

            var number = (first + i) / IndexPage.Blocks;
            if (await ReadPageAsync(state, number) is not { } page) return false;
            var end = Math.Min(blocks.Length, ((number + 1) * IndexPage.Blocks) - first);
            while (i < end && isInFile[i])
            {
                var place = page[(first + i) % IndexPage.Blocks];
                var run = 1;
                while (i + run < end && isInFile[i + run]
                    && BlockRun.Follows(place, run, page[(first + i + run) % IndexPage.Blocks])) run++;
                if (!place.IsEmpty && !await ReadRunAsync(state, page, (first + i) % IndexPage.Blocks,
                    blocks.AsMemory(i, run))) return false;
                i += run;
            }
        }

        return true;
    }

    private async ValueTask<bool> ReadRunAsync(
        CheckpointState state, IndexPage page, int first, Memory<ReadOnlyMemory<byte>> blocks)
    {
        var bytes = await BlockRun.ReadAsync(_ports.Files, state, page, first, blocks.Length);
        if (bytes is null)
        {
            Report(state, page[first].File);
            return false;
        }

        for (var i = 0; i < blocks.Length; i++)
            blocks.Span[i] = bytes.AsMemory(i * state.BlockSize, state.BlockSize);
        return true;
    }

    // Null: damaged, or deleted meanwhile.
    private async ValueTask<IndexPage?> ReadPageAsync(CheckpointState state, int page)
    {
        var place = state.Pages[page];
        // A single bad transfer is no damage.
        for (var attempt = 0; attempt < 2; attempt++)
        {
            try
            {
                return await _ports.Index.GetAsync(state.File.Region, place);
            }
            catch (Exception error) when (error is MalformedDataException or IOException or ObjectDisposedException)
            {
                // Read again, then reported.
            }
        }

        Report(state, place.File);
        return null;
    }

    // A file that a newer state does without is no damage.
    private void Report(CheckpointState state, long file)
    {
        lock (_gate)
        {
            if (!ReferenceEquals(_state, state) && !_book.IsNeeded(file)) return;
        }

        _ports.Damaged(new RegionFile(state.File.Region, file));
    }
}
