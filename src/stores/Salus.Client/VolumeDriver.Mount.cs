namespace Salus;

internal sealed partial class VolumeDriver
{
    /// <summary>Mounts a volume: takes the writer's lock, begins a run, compares the regions with what the log has
    /// decided, and loads the page hashes of their trees.</summary>
    /// <exception cref="VolumeException">The volume cannot be mounted now.</exception>
    public static async Task<VolumeDriver> MountAsync(
        VolumePorts ports, SalusClientOptions options, CancellationToken cancellationToken)
    {
        var begun = ports.Time.GetTimestamp();
        var lease = await AcquireAsync(ports, options, cancellationToken);
        VolumeDriver? driver = null;
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, lease.Lost);
        try
        {
            var signer = new Signer(new Incarnation(ports.Entropy.NewGuid()));
            var accusations = new Accusations(ports, options.StallTime, either.Token);
            var asker = ports.Asker(options, accusations.Accuse);
            var opener = new RunOpener(ports, options, asker, accusations);
            var opened = await opener.OpenAsync(lease.Token, signer.Incarnation, either.Token);
            var state = ports.Log.State;
            var trees = await RunOpener.ForRegionsAsync(opened.Regions.Length, region => RegionTrees.LoadAsync(
                asker, state.Key(region), state.Head.Geometry!.PagesOf(region), opened.Regions[region].Root,
                new BatchPoint(opened.Regions[region].Last.Number, null), either.Token));
            driver = new VolumeDriver(ports, options, lease, signer, opened, new VolumeTree(trees, options.TreeCache));
            driver.Begin(opened);
            SalusClientTelemetry.Mounted.Add(1);
            SalusClientTelemetry.MountTime.Record(ports.Time.GetElapsedTime(begun).TotalSeconds);
            return driver;
        }
        catch (OperationCanceledException) when (lease.Lost.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw new VolumeException(VolumeFault.LeaseLost,
                "The lock of the volume ended while it was being mounted: mount it again.");
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            throw LogFaults.Told(e);
        }
        finally
        {
            if (driver is null) await lease.DisposeAsync();
        }
    }

    private static async Task<IWriterLease> AcquireAsync(
        VolumePorts ports, SalusClientOptions options, CancellationToken cancellationToken)
    {
        using var impatience = new CancellationTokenSource(options.Patience, ports.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, impatience.Token);
        try
        {
            return await ports.Log.AcquireAsync(options.Lease, options.Owner, either.Token);
        }
        catch (OperationCanceledException) when (impatience.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw new VolumeException(VolumeFault.Unavailable,
                "Another process has mounted the volume: end it first, or mount a snapshot for reading.");
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            throw LogFaults.Told(e);
        }
    }

    private void Begin(OpenedRun opened)
    {
        SalusClientLog.RunBegins(_ports.Logger, Volume, opened.Run, opened.Decision.Batch.Number);
        _tending = Task.WhenAll(_ports.Loops.RunAsync(FollowAsync), _ports.Loops.RunAsync(TendAsync));
    }

    // Regions whose checkpoints lack something: a later mount then has no log to read.
    private List<int> Uncut()
    {
        var state = _ports.Log.State;
        lock (_gate)
        {
            return [.. _regions.Where(link => link.Committed.Number > state.Regions[link.Region].Newest.Batch)
                .Select(static link => link.Region)];
        }
    }

    /// <summary>Ends the use: what was placed is committed, regions are asked for checkpoints, and another process may
    /// mount the volume.</summary>
    public async ValueTask DisposeAsync()
    {
        Batch? newest;
        bool isFirst;
        lock (_gate)
        {
            isFirst = !_isClosing;
            _isClosing = true;
            newest = _queue.Newest;
        }

        if (!isFirst) return;
        try
        {
            if (newest is not null) await WithinPatienceAsync(newest.Ended);
            await NoteAsync();
            await AskForCutsAsync(Uncut());
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            // The next mount finds what was committed.
        }

        _losing.Unregister();
        Lose(VolumeFault.LeaseLost, "The volume was closed.");
        await _tending;
        await _lease.DisposeAsync();
        await _ports.Closed();
    }
}
