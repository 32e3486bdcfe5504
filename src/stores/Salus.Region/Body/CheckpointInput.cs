namespace Salus.Region.Body;

/// <summary>The blocks of a new checkpoint file, in order: what the memtable has, and the live blocks of the files that
/// are compacted. No clock and no chance: all members have the same (S17).</summary>
internal sealed class CheckpointInput(
    BodyPorts ports, CheckpointState before, Memtable table, ImmutableArray<long> inputs)
{
    private const int MostBytes = 1 << 20;

    private readonly int _mostBlocks = Math.Max(1, MostBytes / before.BlockSize);

    /// <summary>Index pages in files that are compacted: a page may stand there without any block of that
    /// file.</summary>
    public IEnumerable<int> MovedPages
    {
        get
        {
            for (var page = 0; page < before.Pages.Length; page++)
            {
                if (inputs.Contains(before.Pages[page].File)) yield return page;
            }
        }
    }

    /// <exception cref="MalformedDataException">An input is damaged.</exception>
    /// <exception cref="IOException">An input is not there, or cannot be read.</exception>
    public async IAsyncEnumerable<BlockContent> ReadAsync()
    {
        for (var page = 0; page < before.Pages.Length; page++)
        {
            if (inputs.IsEmpty)
            {
                foreach (var change in table.ChangesOf(page)) yield return change;
            }
            else
            {
                await foreach (var change in MergeAsync(page)) yield return change;
            }
        }
    }

    // A block that the memtable has is not moved: its older data is dead.
    private async IAsyncEnumerable<BlockContent> MergeAsync(int number)
    {
        var page = await ports.Index.GetAsync(before.File.Region, before.Pages[number]);
        using var changes = table.ChangesOf(number).GetEnumerator();
        var hasChange = changes.MoveNext();
        for (var at = 0; at < IndexPage.Blocks;)
        {
            var block = (number * IndexPage.Blocks) + at;
            if (hasChange && changes.Current.Block == block)
            {
                yield return changes.Current;
                hasChange = changes.MoveNext();
                at++;
                continue;
            }

            if (!IsMoved(page[at]))
            {
                at++;
                continue;
            }

            var end = hasChange ? changes.Current.Block % IndexPage.Blocks : IndexPage.Blocks;
            end = Math.Min(end, at + _mostBlocks);
            var run = 1;
            while (at + run < end && BlockRun.Follows(page[at], run, page[at + run])) run++;
            var bytes = await ReadRunAsync(page, at, run);
            for (var i = 0; i < run; i++)
            {
                yield return new BlockContent(
                    block + i, page[at + i].Hash, bytes.AsMemory(i * before.BlockSize, before.BlockSize));
            }

            at += run;
        }
    }

    private bool IsMoved(in BlockPlace place) => !place.IsEmpty && inputs.Contains(place.File);

    private async ValueTask<byte[]> ReadRunAsync(IndexPage page, int first, int count)
    {
        if (await BlockRun.ReadAsync(ports.Files, before, page, first, count) is { } bytes) return bytes;
        var file = new RegionFile(before.File.Region, page[first].File);
        ports.Damaged(file);
        throw new MalformedDataException($"File {file.Number} of {file.Region} is damaged: take it from a peer.");
    }
}
