namespace Tango.ZooKeeper;

/// <summary>Front ends that are up, and those whose sessions have not all left. Persistent, as the tree is.</summary>
internal sealed class FrontEndTable
{
    private readonly ImmutableSortedDictionary<long, FrontEnd> _rows;

    private FrontEndTable(ImmutableSortedDictionary<long, FrontEnd> rows) => _rows = rows;

    public static FrontEndTable Empty { get; } = new(ImmutableSortedDictionary<long, FrontEnd>.Empty);

    /// <summary>By id.</summary>
    public IEnumerable<FrontEnd> Rows => _rows.Values;

    public int Count => _rows.Count;

    public FrontEnd? Find(long id) => _rows.GetValueOrDefault(id);

    public bool IsUp(long id) => Find(id) is { IsDown: false };

    public FrontEndTable Set(FrontEnd row) => new(_rows.SetItem(row.Id, row));

    /// <param name="id">A front end in the table.</param>
    public FrontEndTable Enter(long id)
    {
        var row = _rows[id];
        return Set(row with { Sessions = row.Sessions + 1 });
    }

    /// <param name="id">A front end in the table.</param>
    public FrontEndTable Leave(long id)
    {
        var row = _rows[id];
        return Kept(row with { Sessions = row.Sessions - 1 });
    }

    /// <param name="row">A row of the table.</param>
    public FrontEndTable TakeDown(FrontEnd row) => Kept(row with { IsDown = true });

    private FrontEndTable Kept(FrontEnd row) =>
        row is { IsDown: true, Sessions: 0 } ? new FrontEndTable(_rows.Remove(row.Id)) : Set(row);
}
