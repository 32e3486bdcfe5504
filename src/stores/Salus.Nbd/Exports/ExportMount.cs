namespace Salus.Nbd.Exports;

/// <summary>
/// An export whose volume is mounted from the first client's transmission to some time after the last one's. Any
/// thread.
/// </summary>
internal sealed class ExportMount(NbdExport export, NbdServerOptions options, ILogger logger, TimeProvider time)
{
    private readonly Lock _gate = new();
    // Guarded by _gate. While _users > 0 the mount stays; with _users = 0, _lingering ends it. An earlier mount's end
    // is _ending, which the next mount waits for.
    private Task<MountedVolume>? _mount;
    private CancellationTokenSource? _mounting;
    private Task _ending = Task.CompletedTask;
    private int _users;
    private ITimer? _lingering;
    private bool _isClosed;

    public NbdExport Export => export;

    /// <summary>Mounts the volume if it is not. Each success is followed by <see cref="Leave"/>.</summary>
    /// <exception cref="VolumeException">The volume cannot be mounted.</exception>
    public async ValueTask<MountedVolume> EnterAsync(CancellationToken cancellationToken)
    {
        Task<MountedVolume> mount;
        lock (_gate)
        {
            if (_isClosed) throw Closed();
            if (_mount is { IsCompletedSuccessfully: true, Result.IsLost: true })
            {
                if (_users > 0)
                    throw new VolumeException(VolumeFault.LeaseLost,
                        $"'{export.Name}' is mounted here no more and is being closed; connect again in a moment.");
                End();
            }

            _users++;
            _lingering?.Dispose();
            _lingering = null;
            if (_mount is null)
            {
                var (before, mounting) = (_ending, _mounting = new CancellationTokenSource());
                _mount = LoopContext.Pool.RunAsync(() => MountAsync(before, mounting.Token));
            }

            mount = _mount;
        }

        try
        {
            return await mount.WaitAsync(options.MountTimeout, time, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            Leave();
            throw e is TimeoutException
                ? new VolumeException(VolumeFault.Unavailable,
                    $"'{export.Name}' was not mounted within {options.MountTimeout.TotalSeconds:0} s; "
                    + "see whether another process holds the volume, and whether its stores run.")
                : e;
        }
    }

    public void Leave()
    {
        lock (_gate)
        {
            if (--_users > 0 || _mount is null) return;
            if (_isClosed || _mount.IsFaulted || _mount is { IsCompletedSuccessfully: true, Result.IsLost: true })
                End();
            else
                _lingering = time.CreateTimer(_ => EndLingering(), null, options.Linger, Timeout.InfiniteTimeSpan);
        }
    }

    /// <summary>Unmounts the volume, in use or not, and mounts it no more.</summary>
    public Task CloseAsync()
    {
        lock (_gate)
        {
            _isClosed = true;
            if (_mount is not null) End();
            return _ending;
        }
    }

    private void EndLingering()
    {
        lock (_gate)
        {
            if (_users == 0 && _mount is not null) End();
        }
    }

    // Under the gate.
    private void End()
    {
        var (mount, mounting) = (_mount!, _mounting!);
        _mount = null;
        _mounting = null;
        _lingering?.Dispose();
        _lingering = null;
        _ending = LoopContext.Pool.RunAsync(() => UnmountAsync(mount, mounting));
    }

    // Yields first, so that nothing of the volume runs under the gate.
    private async Task<MountedVolume> MountAsync(Task before, CancellationToken cancellationToken)
    {
        await before.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        var volume = await export.Source.MountAsync(cancellationToken).ConfigureAwait(false);
        NbdLog.Mounted(logger, export.Name);
        return new MountedVolume(volume, options.RecentBytes);
    }

    // A mount under way is given up.
    private async Task UnmountAsync(Task<MountedVolume> mount, CancellationTokenSource mounting)
    {
        using var cancelled = mounting;
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            cancelled.Cancel();
            await (await mount.ConfigureAwait(false)).Volume.DisposeAsync().ConfigureAwait(false);
            NbdLog.Unmounted(logger, export.Name);
        }
        catch (Exception e)
        {
            // A mount that failed was told to its clients. A volume that could not be closed well is recovered by its
            // next mount.
            if (mount.IsCompletedSuccessfully) NbdLog.NotClosed(logger, export.Name, e);
        }
    }

    private VolumeException Closed() =>
        new(VolumeFault.LeaseLost, $"'{export.Name}' is no longer served here.");
}
