namespace Corfu.Checkers;

/// <summary>A content that a volume may have: one number for each block.</summary>
internal sealed class VolumeContent
{
    private readonly long[] _blocks;

    public VolumeContent(int blocks) => _blocks = new long[blocks];

    private VolumeContent(VolumeContent before, VolumeCall call)
    {
        _blocks = (long[])before._blocks.Clone();
        Hash = before.Hash;
        IsDropping = false;
        for (var block = call.First; block < call.First + call.Count; block++)
        {
            Hash ^= Mix(block, _blocks[block]);
            _blocks[block] = call.ValueOf(block);
            Hash ^= Mix(block, _blocks[block]);
        }
    }

    private VolumeContent(VolumeContent before, bool isDropping)
    {
        _blocks = before._blocks;
        Hash = before.Hash;
        IsDropping = isDropping;
    }

    /// <summary>Equal contents have equal hashes.</summary>
    public ulong Hash { get; }

    /// <summary>The last write was void: those behind it are void too, up to the next one that was
    /// acknowledged.</summary>
    public bool IsDropping { get; }

    public long this[int block] => _blocks[block];

    public VolumeContent With(VolumeCall call) => new(this, call);

    public VolumeContent Dropping() => new(this, isDropping: true);

    public VolumeContent Settled() => IsDropping ? new(this, isDropping: false) : this;

    private static ulong Mix(int block, long value)
    {
        if (value == 0) return 0;
        var hash = ((ulong)block * 0x9E3779B97F4A7C15UL) ^ ((ulong)value * 0xD6E8FEB86659FD93UL);
        hash = (hash ^ (hash >> 32)) * 0xBF58476D1CE4E5B9UL;
        return hash ^ (hash >> 29);
    }
}

/// <summary>All contents that a volume may have behind some calls.</summary>
internal sealed class VolumeContents
{
    // Far more than a window of writes without an outcome gives; beyond, the check says that it has given up.
    private const int Most = 20_000;

    private readonly Dictionary<(ulong Hash, bool IsDropping), VolumeContent> _all = [];

    public bool IsTooMany { get; private set; }

    public IReadOnlyCollection<VolumeContent> All => _all.Values;

    public void Add(VolumeContent content)
    {
        if (_all.Count >= Most) IsTooMany = true;
        else _all.TryAdd((content.Hash, content.IsDropping), content);
    }

    public void Add(VolumeContents others)
    {
        IsTooMany |= others.IsTooMany;
        foreach (var content in others.All) Add(content);
    }

    /// <summary>The contents behind one more write.</summary>
    public VolumeContents Behind(VolumeCall call, bool mustBeThere)
    {
        var next = new VolumeContents { IsTooMany = IsTooMany };
        foreach (var content in _all.Values)
        {
            if (mustBeThere || !content.IsDropping) next.Add(content.With(call));
            if (!mustBeThere) next.Add(content.Dropping());
        }

        return next;
    }

    public VolumeContents Settled()
    {
        var next = new VolumeContents { IsTooMany = IsTooMany };
        foreach (var content in _all.Values) next.Add(content.Settled());
        return next;
    }
}
