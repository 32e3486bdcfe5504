namespace Salus.Store.Files;

/// <summary>A checkpoint that is being written: changed index pages, and how much of each file is still used.</summary>
internal sealed class CheckpointDraft
{
    private readonly IRegionFiles _files;
    private readonly CheckpointTask _task;
    private readonly CheckpointState _before;
    private readonly PagePlace[] _table;
    private readonly SortedDictionary<int, IndexPage> _pages = [];
    private readonly SortedDictionary<uint, (int Blocks, int Pages)> _uses = [];
    private int _last = -1;

    public CheckpointDraft(IRegionFiles files, CheckpointTask task, CheckpointState before)
    {
        _files = files;
        _task = task;
        _before = before;
        _table = [.. before.Pages];
        foreach (var use in before.Files) _uses[use.File] = (use.Blocks, use.Pages);
    }

    /// <summary>Blocks with data so far.</summary>
    public uint Blocks { get; private set; }

    /// <summary>The changed pages, in order.</summary>
    public IEnumerable<KeyValuePair<int, IndexPage>> Pages => _pages;

    private uint Own => (uint)_task.File.Number;

    public async ValueTask AddAsync(BlockContent change)
    {
        if (change.Block <= _last) throw new ArgumentException("The blocks of a checkpoint are not ascending.");
        _last = change.Block;
        if (!IsWhole(change))
        {
            throw new MalformedDataException(
                $"Block {change.Block} of {_task.File.Region} is not what its hash says: memory or disk is damaged.");
        }

        var page = await HoldAsync(change.Block / IndexPage.Blocks);
        var at = change.Block % IndexPage.Blocks;
        Use(page[at].File, -1, 0);
        page[at] = change.Hash.IsEmpty ? default : new BlockPlace(change.Hash, Own, Blocks++);
        Use(page[at].File, 1, 0);
    }

    /// <summary>The page gets a place in the file.</summary>
    public async ValueTask<IndexPage> HoldAsync(int number)
    {
        if (_pages.TryGetValue(number, out var page)) return page;
        page = await LoadAsync(number);
        _pages[number] = page;
        return page;
    }

    /// <summary>Gives a changed page its place.</summary>
    /// <returns>False: all its blocks are empty, and it has none.</returns>
    public bool Place(int number, IndexPage page, long offset)
    {
        Use(_table[number].File, 0, -1);
        var hash = page.ToTree().Hash;
        _table[number] = hash.IsEmpty ? default : new PagePlace(hash, Own, offset);
        Use(_table[number].File, 0, 1);
        return !hash.IsEmpty;
    }

    public CheckpointState ToState() => new(_task.File, _before.BlockSize, _task.Index, _task.Chain, _task.Batch,
        [.. _table],
        [
            .. _uses.Where(use => use.Value != (0, 0))
                .Select(use => new FileUse(use.Key, use.Value.Blocks, use.Value.Pages)),
        ]);

    private bool IsWhole(in BlockContent change) => change.Hash.IsEmpty
        ? change.Data.IsEmpty
        : change.Data.Length == _before.BlockSize && TreeHash.OfBlock(change.Data.Span) == change.Hash;

    private async ValueTask<IndexPage> LoadAsync(int number)
    {
        var place = _table[number];
        return place.File == 0
            ? new IndexPage()
            : await CheckpointFile.ReadPageAsync(_files, _task.File.Region, place);
    }

    private void Use(uint file, int blocks, int pages)
    {
        if (file == 0) return;
        var use = _uses.GetValueOrDefault(file);
        _uses[file] = (use.Blocks + blocks, use.Pages + pages);
    }
}
