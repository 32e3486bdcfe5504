using Tango;

namespace Corfu.Orleans.Directories;

/// <summary>A grain's activation.</summary>
[MessagePackObject]
internal sealed record DirectoryRow(
    [property: Key(0)] string Activation,
    [property: Key(1)] string? Silo,
    [property: Key(2)] long MembershipVersion)
{
    /// <summary>The same activation on the same silo, whenever it was registered.</summary>
    public bool IsSame(DirectoryRow other) => Activation == other.Activation && Silo == other.Silo;
}

/// <summary>Holds one activation for each grain: the first that registers, until it is removed, or named by the
/// activation that replaces it.</summary>
/// <remarks>Invariant: <c>_silos</c> has each silo that rows name, with the number of those rows.</remarks>
[TangoObject("corfu.orleans.grain-directory")]
internal sealed partial class DirectoryObject : TangoObject
{
    // Sorted, since removing the rows of a silo looks at all of them.
    private ImmutableSortedDictionary<string, DirectoryRow> _grains =
        ImmutableSortedDictionary.Create<string, DirectoryRow>(StringComparer.Ordinal);

    private ImmutableSortedDictionary<string, int> _silos =
        ImmutableSortedDictionary.Create<string, int>(StringComparer.Ordinal);

    /// <summary>Registers the activation if the grain has none, or the one that it replaces.</summary>
    /// <returns>The grain's registration afterwards.</returns>
    [Mutator(1)]
    public partial ValueTask<DirectoryRow> RegisterAsync([VersionKey] string grain, DirectoryRow activation,
        DirectoryRow? replaced, CancellationToken cancellationToken = default);

    /// <summary>Nothing where another activation is registered.</summary>
    [Mutator(2)]
    public partial ValueTask UnregisterAsync([VersionKey] string grain, DirectoryRow activation,
        CancellationToken cancellationToken = default);

    /// <summary>Removes all activations of these silos. Looks at all rows if there are any.</summary>
    /// <returns>How many.</returns>
    [Mutator(3)]
    public partial ValueTask<int> RemoveSilosAsync(ImmutableArray<string> silos,
        CancellationToken cancellationToken = default);

    /// <summary>How many activations of these silos are registered.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(ImmutableArray<string> silos,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<DirectoryRow?> FindAsync([VersionKey] string grain,
        CancellationToken cancellationToken = default);

    private DirectoryRow ApplyRegister(string grain, DirectoryRow activation, DirectoryRow? replaced)
    {
        if (_grains.TryGetValue(grain, out var registered) && (replaced is null || !registered.IsSame(replaced)))
            return registered;
        if (registered is not null) Remove(grain, registered);
        _grains = _grains.Add(grain, activation);
        if (activation.Silo is { } silo) _silos = _silos.SetItem(silo, _silos.GetValueOrDefault(silo) + 1);
        return activation;
    }

    private void ApplyUnregister(string grain, DirectoryRow activation)
    {
        if (_grains.TryGetValue(grain, out var registered) && registered.IsSame(activation))
            Remove(grain, registered);
    }

    private int ApplyRemoveSilos(ImmutableArray<string> silos)
    {
        // Every silo of the cluster sends this when one of them has died; the first has removed what there was.
        if (ReadCount(silos) == 0) return 0;
        var before = _grains.Count;
        _grains = _grains.RemoveRange(_grains
            .Where(grain => grain.Value.Silo is { } silo && silos.Contains(silo, StringComparer.Ordinal))
            .Select(static grain => grain.Key));
        _silos = _silos.RemoveRange(silos);
        return before - _grains.Count;
    }

    private int ReadCount(ImmutableArray<string> silos) =>
        silos.Distinct(StringComparer.Ordinal).Sum(silo => _silos.GetValueOrDefault(silo));

    private DirectoryRow? ReadFind(string grain) => _grains.GetValueOrDefault(grain);

    private void Remove(string grain, DirectoryRow registered)
    {
        _grains = _grains.Remove(grain);
        if (registered.Silo is not { } silo) return;
        var left = _silos[silo] - 1;
        _silos = left > 0 ? _silos.SetItem(silo, left) : _silos.Remove(silo);
    }
}
