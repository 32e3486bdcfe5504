using Salus.Coordination.Formats;
using Tango;
using Tango.Collections;

namespace Salus.Coordination;

/// <summary>The volumes of a log, by their names.</summary>
#pragma warning disable TANGO008 // StoredFormat registers the formatters.
public sealed class VolumeDirectory
{
    public const string DefaultName = "salus.volumes";

    private readonly TangoDictionary<string, VolumeEntry> _volumes;

    private VolumeDirectory(TangoDictionary<string, VolumeEntry> volumes) => _volumes = volumes;

    public static async ValueTask<VolumeDirectory> OpenAsync(
        TangoRuntime runtime, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(runtime);
        StoredFormat.Register();
        return new VolumeDirectory(await runtime.OpenAsync<TangoDictionary<string, VolumeEntry>>(
            DefaultName, OpenMode.Create, cancellationToken));
    }

    /// <summary>Takes the name for a new volume, in <see cref="VolumeStage.Creating"/>.</summary>
    /// <returns>Why the name is not taken; null: it is.</returns>
    public async ValueTask<string?> AddAsync(
        string name, VolumeId id, VolumeGeometry geometry, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(geometry);
        if (!CoordinationLimits.IsName(name)) return $"a volume's name has 1 to {CoordinationLimits.MaxName} bytes";
        // Two callers at the bound may both add: it is a bound, not a quota.
        if (await _volumes.CountAsync(cancellationToken) >= CoordinationLimits.MaxVolumes)
            return $"there are {CoordinationLimits.MaxVolumes} volumes, the most: delete one";
        return await _volumes.TryAddAsync(name, new VolumeEntry(id, geometry, VolumeStage.Creating), cancellationToken)
            ? null
            : $"there is a volume {name}: take another name";
    }

    /// <summary>Linearizable; null: there is no such volume.</summary>
    public async ValueTask<VolumeEntry?> FindAsync(string name, CancellationToken cancellationToken = default) =>
        await _volumes.TryGetAsync(name, cancellationToken) is { Found: true } found ? found.Value : null;

    /// <summary>Linearizable.</summary>
    public async ValueTask<IReadOnlyDictionary<string, VolumeEntry>> ListAsync(
        CancellationToken cancellationToken = default) => await _volumes.SnapshotAsync(cancellationToken);

    /// <summary>Waits until what the name leads to is what is waited for; null: it leads to nothing.</summary>
    public async ValueTask<VolumeEntry?> WaitForAsync(
        string name, Predicate<VolumeEntry?> until, CancellationToken cancellationToken = default) =>
        await _volumes.WaitForAsync(async (volumes, token) =>
            await volumes.TryGetAsync(name, token) is { Found: true } found ? found.Value : null,
            entry => until(entry), cancellationToken);

    /// <summary>A list that differs from the known one.</summary>
    public async ValueTask<IReadOnlyDictionary<string, VolumeEntry>> WaitForListAsync(
        IReadOnlyDictionary<string, VolumeEntry> known, CancellationToken cancellationToken = default) =>
        await _volumes.WaitForAsync(static (volumes, token) => volumes.SnapshotAsync(token),
            volumes => !IsSame(volumes, known), cancellationToken);

    /// <returns>False: the name has another entry by now, or none.</returns>
    public ValueTask<bool> TryChangeAsync(
        string name, VolumeEntry expected, VolumeStage stage, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(expected);
        return _volumes.TryUpdateAsync(name, expected with { Stage = stage }, expected, cancellationToken);
    }

    /// <summary>Frees the name of a volume that no store holds anything of.</summary>
    /// <returns>False: there was none.</returns>
    public ValueTask<bool> RemoveAsync(string name, CancellationToken cancellationToken = default) =>
        _volumes.RemoveAsync(name, cancellationToken);

    private static bool IsSame(
        ImmutableDictionary<string, VolumeEntry> volumes, IReadOnlyDictionary<string, VolumeEntry> known) =>
        volumes.Count == known.Count
        && volumes.All(volume => known.TryGetValue(volume.Key, out var entry) && entry == volume.Value);
}
