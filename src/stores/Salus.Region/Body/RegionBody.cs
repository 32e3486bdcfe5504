namespace Salus.Region.Body;

/// <summary>The blocks of a region and the hash tree over them. Each batch is accepted, then committed or undone. Cuts
/// bring what is committed into checkpoint files, the same at all members.</summary>
/// <remarks>Blocks are, newest first: in the memtable, in frozen memtables whose files are being written, in files. The
/// tree is ahead of them by the accepted batches. Reads and files go on beside batches.</remarks>
internal sealed partial class RegionBody : IRegionBody
{
    private readonly Lock _gate = new();
    private readonly BodyPorts _ports;
    private readonly RegionWork _work;
    private readonly RegionTree _tree;
    private readonly int _blocks;
    private readonly FileBook _book = new();

    // Kept checkpoints whose page table cannot be read: what they need is not known, so nothing is deleted (S19).
    private readonly Dictionary<long, CheckpointName> _unread = [];

    // Blocks of each file that the state refers to; a file that is not here is missing.
    private readonly Dictionary<long, int> _sizes = [];

    // Oldest first; the tree can undo all of them (S24).
    private readonly LinkedList<AcceptedBatch> _accepted = [];

    // State of the newest checkpoint, or the empty one before the first. Changes in the order of cuts (S18).
    private CheckpointState _state;

    // Checkpoints of this body's turns, until a release shows newer ones.
    private ImmutableArray<CheckpointName> _written = [];

    // Oldest first; _state and these, in order, are all that is committed below the newest turn.
    private ImmutableArray<Memtable> _frozen = [];
    private Memtable _active;
    private BatchName _last;
    private Hash128 _root;

    // The index of the last cut or compaction. Rises.
    private long _lastTurn;
    private long _held;

    // Between a load and its batch no leaves are dropped; what a checkpoint would have dropped then goes after it.
    private bool _isLoaded;
    private bool _isDropDue;

    private RegionBody(BodyPorts ports, CheckpointState state, int blocks)
    {
        _ports = ports;
        _state = state;
        _blocks = blocks;
        _tree = state.ToTree();
        _active = new Memtable(blocks);
        (_last, _root, _lastTurn) = (state.Batch, _tree.Root, state.Index);
        NewestFile = state.File.Number;
        _work = ports.Work.Add();
        ports.Budget.Open();
    }

    public RegionKey Region => _state.File.Region;

    /// <summary>State of the newest checkpoint.</summary>
    public CheckpointState State
    {
        get
        {
            lock (_gate) return _state;
        }
    }

    public Hash128 Root
    {
        get
        {
            lock (_gate) return _tree.Root;
        }
    }

    public Hash128 CommittedRoot
    {
        get
        {
            lock (_gate) return _root;
        }
    }

    public bool Accept(SubBatch batch)
    {
        lock (_gate)
        {
            _isLoaded = false;
            if (!Fits(batch)) return false;
            var before = PagesOf(batch);
            _tree.Apply(batch.Writes.AsSpan(), batch.Zeros.AsSpan());
            if (_tree.Root != batch.Participant.Root)
            {
                _tree.Undo();
                return false;
            }

            _accepted.AddLast(new AcceptedBatch(batch, before));
            if (_isDropDue) DropLeaves();
            return true;
        }
    }

    public void Undo()
    {
        lock (_gate)
        {
            if (_accepted.Last is null)
                throw new InvalidOperationException("No batch is accepted: none can be undone.");
            _tree.Undo();
            _accepted.RemoveLast();
        }
    }

    public void Commit(SubBatch batch)
    {
        lock (_gate)
        {
            if (_accepted.First?.Value.Batch.Header.Name != batch.Header.Name)
                throw new InvalidOperationException($"Batch {batch.Header.Name} is not the oldest accepted one.");
            var accepted = _accepted.First.Value.Batch;
            _accepted.RemoveFirst();
            _tree.Settle();
            var before = _active.Bytes;
            _active.Put(accepted);
            Hold(_active.Bytes - before);
            (_last, _root) = (accepted.Header.Name, accepted.Participant.Root);
        }
    }

    public async ValueTask LoadAsync(SubBatch batch, CancellationToken cancellationToken)
    {
        while (true)
        {
            CheckpointState state;
            int page;
            lock (_gate)
            {
                if (!Fits(batch)) return;
                _isLoaded = true;
                page = _tree.FirstMissing(batch.Writes.AsSpan(), batch.Zeros.AsSpan());
                state = _state;
            }

            if (page < 0) return;
            cancellationToken.ThrowIfCancellationRequested();
            if (await ReadPageAsync(state, page) is not { } found)
            {
                if (IsCurrent(state)) throw Unreadable(page);
                continue;
            }

            lock (_gate)
            {
                // A checkpoint in between has moved blocks from the memtable to other index pages.
                if (!ReferenceEquals(_state, state) || !_tree.IsMissing(page)) continue;
                if (!_tree.TryLoad(page, new TreePage(LeavesOf(found, page)))) throw Unreadable(page);
            }
        }
    }

    // Waits for the file that is being written; none is begun any more.
    public async ValueTask DisposeAsync()
    {
        await _work.DisposeAsync();
        lock (_gate)
        {
            if (_held >= 0) _ports.Budget.Close(_held);
            _held = -1;
        }
    }

    private static bool IsRangeIn(in ZeroRange zero, int blocks) => zero.First >= 0 && zero.End <= blocks;

    private bool Fits(SubBatch batch) => batch.Key == _state.File.Region && batch.BlockSize == _state.BlockSize
        && (batch.Writes.IsEmpty || batch.Writes[^1].Block < _blocks)
        && (batch.Zeros.IsEmpty || IsRangeIn(batch.Zeros[^1], _blocks));

    // The hashes, before the batch, of the pages that it changes.
    private List<(int Page, Hash128 Hash)> PagesOf(SubBatch batch)
    {
        var pages = new List<(int Page, Hash128 Hash)>();
        foreach (var write in batch.Writes) Note(write.Block / TreePage.Leaves);
        foreach (var zero in batch.Zeros)
        {
            for (var page = zero.First / TreePage.Leaves; page <= (zero.End - 1) / TreePage.Leaves; page++) Note(page);
        }

        return pages;

        // A page that comes twice has the same hash both times.
        void Note(int page)
        {
            if (pages.Count == 0 || pages[^1].Page != page) pages.Add((page, _tree.PageHashes[page]));
        }
    }

    // The page's hash in the committed tree: the oldest accepted batch that changes the page knows it.
    private Hash128 CommittedHash(int page)
    {
        foreach (var accepted in _accepted)
        {
            foreach (var (number, hash) in accepted.Before)
            {
                if (number == page) return hash;
            }
        }

        return _tree.PageHashes[page];
    }

    private ImmutableArray<Hash128> CommittedHashes()
    {
        Hash128[] hashes = [.. _tree.PageHashes];
        for (var node = _accepted.Last; node is not null; node = node.Previous)
        {
            foreach (var (page, hash) in node.Value.Before) hashes[page] = hash;
        }

        return [.. hashes];
    }

    // The committed leaves of a page, whose index page is that of _state.
    private Hash128[] LeavesOf(IndexPage page, int number)
    {
        var leaves = new Hash128[TreePage.Leaves];
        for (var i = 0; i < leaves.Length; i++) leaves[i] = page[i].Hash;
        foreach (var table in _frozen) table.Overlay(number, leaves);
        _active.Overlay(number, leaves);
        return leaves;
    }

    // Leaves that no accepted batch needs; index pages have them.
    private void DropLeaves()
    {
        _isDropDue = _isLoaded;
        for (var page = 0; page < _tree.Pages && !_isLoaded; page++) _tree.TryDrop(page);
    }

    private IOException Unreadable(int page) => new($"Page {page} of {Region} cannot be read, or memory is damaged: "
        + "the store gets the file from a peer, and the region moves if that does not help.");

    private bool IsCurrent(CheckpointState state)
    {
        lock (_gate) return ReferenceEquals(_state, state);
    }

    private void Hold(long bytes)
    {
        _held += bytes;
        _ports.Budget.Add(bytes);
    }

    private sealed record AcceptedBatch(SubBatch Batch, List<(int Page, Hash128 Hash)> Before);
}
