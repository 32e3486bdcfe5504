using Tango;

namespace Salus.Coordination;

/// <summary>The objects of the volumes: each is opened when the directory names it.</summary>
public sealed partial class VolumeMap
{
    /// <summary>Volumes that are opened at once: each is played from its newest checkpoint.</summary>
    private const int MostOpened = 16;

    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(200);

    private async Task KeepVolumesAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                var listing = _listing.State;
                await CloseOthersAsync(listing);
                var areOpen = await OpenAllAsync(listing);
                await WaitForListingAsync(listing, areOpen ? Timeout.InfiniteTimeSpan : s_retry);
            }
            catch (Exception) when (_stop.IsCancellationRequested)
            {
                return;
            }
            catch (Exception)
            {
                // Playback has failed, which every call hears. The next look tells.
                await Task.Delay(s_retry, _time, CancellationToken.None);
            }
        }
    }

    private async Task CloseOthersAsync(DirectoryListing listing)
    {
        var named = listing.Entries.Values.Select(static entry => entry.Id).ToHashSet();
        KeyValuePair<VolumeId, FollowedVolume>[] gone;
        lock (_gate)
        {
            gone = [.. _volumes.Where(volume => !named.Contains(volume.Key))];
            foreach (var (volume, _) in gone) _volumes.Remove(volume);
        }

        foreach (var (volume, followed) in gone)
        {
            await followed.States.DisposeAsync();
            Change(view => view with { Volumes = view.Volumes.Remove(volume) });
            Changed?.Invoke(volume);
        }
    }

    /// <returns>False: an object was not to be had, and is asked for again.</returns>
    private async Task<bool> OpenAllAsync(DirectoryListing listing)
    {
        VolumeEntry[] missing;
        lock (_gate) missing = [.. listing.Entries.Values.Where(entry => !_volumes.ContainsKey(entry.Id))];
        var areOpen = true;
        foreach (var some in missing.Chunk(MostOpened))
        {
            foreach (var isOpen in await Task.WhenAll(some.Select(TryOpenAsync))) areOpen &= isOpen;
        }

        return areOpen;
    }

    private async Task<bool> TryOpenAsync(VolumeEntry entry)
    {
        try
        {
            // The object of a volume that is not new was made, or is deleted already.
            var mode = entry.Stage == VolumeStage.Creating ? OpenMode.Create : OpenMode.Existing;
            var volume = await _runtime.OpenAsync<SalusVolume>(SalusVolume.NameOf(entry.Id), mode, _stop.Token);
            var first = await volume.StateAsync(_stop.Token);
            var states = new Followed<VolumeState>(
                new FollowedObject<VolumeState>(static state => state.Revision, volume.WaitForStateAsync), first,
                state => Take(entry.Id, state), _time, _loops);
            lock (_gate) _volumes.Add(entry.Id, new FollowedVolume(volume, states));
            Take(entry.Id, first);
            return true;
        }
        catch (Exception e) when (e is CorfuException or TangoException)
        {
            return false;
        }
    }

    private async Task WaitForListingAsync(DirectoryListing known, TimeSpan limit)
    {
        using var soon = new CancellationTokenSource(limit, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(soon.Token, _stop.Token);
        try
        {
            await _listing.WaitAsync(known, either.Token);
        }
        catch (OperationCanceledException) when (!_stop.IsCancellationRequested)
        {
            // Objects that were not to be had are asked for again.
        }
    }
}
