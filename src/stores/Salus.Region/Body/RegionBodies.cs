using System.Collections.Concurrent;

namespace Salus.Region.Body;

/// <summary>The bodies of one store's regions, which share memory and disk.</summary>
public sealed class RegionBodies : IRegionBodies, IAsyncDisposable
{
    /// <summary>Index pages that all regions of a node keep in memory. Default 256 MiB.</summary>
    public const long DefaultIndexCache = 256 << 20;

    private readonly BodyPorts _ports;

    // The newest of each region; it may be closed.
    private readonly ConcurrentDictionary<RegionKey, RegionBody> _bodies = new();

    /// <param name="damaged">A file is damaged or missing, and is to come from a peer. Any thread; quick.</param>
    /// <param name="missing">A region that was opened needs the file, and its recovery has not copied it. As of
    /// <paramref name="damaged"/>, which counts where this is null.</param>
    /// <param name="failed">A bug has ended the work at files: the process is to end.</param>
    /// <param name="indexCache">Bytes.</param>
    /// <param name="memtables">Bytes of blocks in memory, of all regions, from which on cuts come earlier.</param>
    public RegionBodies(IRegionFiles files, IWorkers workers, Action<RegionFile> damaged, Action<Exception> failed,
        long indexCache = DefaultIndexCache, long memtables = MemtableBudget.DefaultLimit,
        Action<RegionFile>? missing = null) => _ports = new BodyPorts(
        files, new IndexPages(files, indexCache), new FileWork(workers, failed), new MemtableBudget(memtables),
        damaged, missing ?? damaged);

    public async ValueTask<OpenedBody?> OpenAsync(RegionKey region, VolumeGeometry geometry,
        ImmutableArray<CheckpointName> kept, CheckpointName from, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        // A folder that cannot be read is no missing checkpoint: a copy from a peer would not help.
        var there = RegionBody.FindFiles(_ports, region, kept);
        try
        {
            var body = await RegionBody.OpenAsync(_ports, region, geometry, kept, from, there);
            _bodies[region] = body;
            return new OpenedBody(body, body.State.Index, body.State.Chain, body.State.Batch);
        }
        catch (Exception error) when (error is IOException or MalformedDataException)
        {
            // Reported as damaged where it is.
            return null;
        }
    }

    /// <summary>Whether a region needs the file, as far as is known: a region that is not open may.</summary>
    public bool Needs(RegionFile file) =>
        !_bodies.TryGetValue(file.Region, out var body) || body.Needs(file.Number);

    /// <summary>A file of the store is whole again.</summary>
    public async ValueTask MendedAsync(RegionFile file)
    {
        _ports.Index.Drop(file);
        if (_bodies.TryGetValue(file.Region, out var body)) await body.MendedAsync(file.Number);
    }

    public ValueTask DisposeAsync() => _ports.Work.DisposeAsync();
}
