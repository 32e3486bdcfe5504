using Tango;

namespace Salus.Coordination;

/// <summary>The map of the region servers of one incarnation: the volumes that the process follows, and its
/// lease.</summary>
public sealed class RegionMap : IRegionMap, IDisposable
{
    private readonly VolumeMap _map;
    private readonly NodeLease _lease;
    private readonly Incarnation _incarnation;

    /// <param name="incarnation">The lease's. When that is lost, the servers end, and others begin under the next
    /// one.</param>
    public RegionMap(VolumeMap map, NodeLease lease, Incarnation incarnation)
    {
        ArgumentNullException.ThrowIfNull(map);
        ArgumentNullException.ThrowIfNull(lease);
        (_map, _lease, _incarnation) = (map, lease, incarnation);
        map.Changed += OnChange;
        lease.Changed += OnLease;
    }

    public event Action<VolumeId>? Changed;

    public bool IsHeld => _lease.Holds(_incarnation);

    public NodeBookView Nodes => _map.View.Nodes;

    public IReadOnlyCollection<VolumeId> Volumes
    {
        get
        {
            var view = _map.View;
            return [.. view.Volumes.Keys.Where(view.IsInUse)];
        }
    }

    public VolumeState? Find(VolumeId volume)
    {
        var view = _map.View;
        return view.IsInUse(volume) ? view.Volumes.GetValueOrDefault(volume) : null;
    }

    public async ValueTask<VolumeState?> RefreshAsync(
        VolumeId volume, CancellationToken cancellationToken = default)
    {
        var state = await _map.RefreshAsync(volume, cancellationToken);
        return _map.View.IsInUse(volume) ? state : null;
    }

    public ValueTask<string?> RecoveredAsync(RegionKey region, Epoch generation, RegionOpening opening,
        Certificate certificate, CancellationToken cancellationToken = default) => CallAsync(region, "The recovery",
        (volume, token) => volume.RecoveredAsync(region.Region, generation.Value, opening, certificate, token),
        cancellationToken);

    public ValueTask<string?> ReportAsync(RegionKey region, Epoch generation, RegionReport report,
        Certificate certificate, CancellationToken cancellationToken = default) => CallAsync(region, "The report",
        (volume, token) => volume.ReportAsync(region.Region, generation.Value, report, certificate, token),
        cancellationToken);

    public ValueTask<string?> PublishAsync(RegionKey region, Epoch generation, CheckpointName checkpoint,
        Certificate certificate, CancellationToken cancellationToken = default) => CallAsync(region, "The checkpoint",
        (volume, token) => volume.PublishAsync(region.Region, generation.Value, checkpoint, certificate, token),
        cancellationToken);

    public ValueTask<string?> FillAsync(RegionKey region, Epoch generation, Incarnation member,
        CancellationToken cancellationToken = default) => CallAsync(region, "The filled member",
        (volume, token) => volume.FillAsync(region.Region, generation.Value, member, token), cancellationToken);

    public ValueTask<string?> AccuseAsync(
        RegionKey region, Suspicion suspicion, CancellationToken cancellationToken = default) => CallAsync(
        region, "The accusation", (volume, token) => volume.SuspectAsync(suspicion, token), cancellationToken);

    public void Dispose()
    {
        _map.Changed -= OnChange;
        _lease.Changed -= OnLease;
    }

    private void OnChange(VolumeId volume) => Changed?.Invoke(volume);

    private void OnLease() => Changed?.Invoke(default);

    private async ValueTask<string?> CallAsync(RegionKey region, string what,
        Func<SalusVolume, CancellationToken, ValueTask<string?>> call, CancellationToken cancellationToken)
    {
        if (_map.ObjectOf(region.Volume) is not { } volume) return $"volume {region.Volume} is not known here";
        try
        {
            return await call(volume, cancellationToken);
        }
        catch (TangoObjectDeletedException)
        {
            return $"volume {region.Volume} is deleted";
        }
        catch (TangoException e)
        {
            throw new CorfuException($"{what} of region {region} may not be recorded: {e.Message}", e);
        }
    }
}
