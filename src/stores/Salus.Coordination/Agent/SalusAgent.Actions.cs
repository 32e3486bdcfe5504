using Microsoft.Extensions.Logging;
using Tango;

namespace Salus.Coordination;

/// <summary>The agent's steps.</summary>
public sealed partial class SalusAgent
{
    /// <returns>False: it is tried again after a while, where it is still due.</returns>
    private async Task<bool> TryActAsync(AgentAction action, long token)
    {
        switch (action)
        {
            case AgentAction.Make make:
                var made = await _runtime.OpenAsync<SalusVolume>(
                    SalusVolume.NameOf(make.Entry.Id), OpenMode.Create, _stop.Token);
                return await ProposeAsync(action, token,
                    () => made.CreateAsync(make.Entry.Id, make.Entry.Geometry, _stop.Token));
            case AgentAction.Place place:
                return await ProposeAsync(action, token, place.Volume,
                    volume => volume.PlaceAsync(place.First, place.Regions, _stop.Token));
            case AgentAction.MarkReady mark:
                return await ProposeAsync(action, token, async () =>
                    await _map.Directory.TryChangeAsync(mark.Name, mark.Entry, VolumeStage.Ready, _stop.Token)
                        ? null
                        : "its entry has changed meanwhile");
            case AgentAction.Clear clear:
                return await ClearAsync(clear, token);
            case AgentAction.Replace replace:
                LogReplaces(replace.Region, replace.Generation.Next.Value, replace.Why);
                return await ProposeAsync(action, token, replace.Region.Volume, volume => volume.ReplaceAsync(
                    replace.Region.Region, replace.Generation.Value, replace.Members, _stop.Token));
            case AgentAction.Expel expel:
                LogExpels(expel.Node.Store, expel.Why);
                return await ProposeAsync(action, token, async () =>
                    await _map.Book.ExpelAsync(expel.Node.Store.Value, expel.Node.Incarnation.Value, _stop.Token)
                        ? null
                        : "the process is gone");
            case AgentAction.ProbeMember probe:
                var answers = await _calls.AnswersAsync(probe.Region, probe.Generation, probe.Node, _stop.Token);
                if (!_stop.IsCancellationRequested) _core.Record(probe, answers, _clock.Now);
                return true;
            case AgentAction.ProbeSeal probe:
                var isSealed = await _calls.IsSealedAsync(probe.Region, probe.Generation, probe.Node, _stop.Token);
                if (!_stop.IsCancellationRequested) _core.Record(probe, isSealed, _clock.Now);
                return true;
            default:
                throw new InvalidOperationException($"{action} is no step.");
        }
    }

    private Task<bool> ProposeAsync(AgentAction action, long token, VolumeId id,
        Func<SalusVolume, ValueTask<string?>> change) =>
        _map.ObjectOf(id) is { } volume
            ? ProposeAsync(action, token, () => change(volume))
            : Task.FromResult(false);

    // Recorded only while this agent leads: one that was stopped for long changes nothing that its successor did.
    private async Task<bool> ProposeAsync(AgentAction action, long token, Func<ValueTask<string?>> change)
    {
        var result = await _runtime.RunTransactionAsync(async _ =>
        {
            await _election.Lock.RequireHeldAsync(token, _stop.Token);
            return await change();
        }, cancellationToken: _stop.Token);
        result.Outcome.ThrowIfNotCommitted();
        if (result.Value is { } refusal) LogRefused(action.GetType().Name, action.Subject, refusal);
        return result.Value is null;
    }

    /// <summary>The stores free by themselves what they hold of a volume that is being deleted.</summary>
    private async Task<bool> ClearAsync(AgentAction.Clear clear, long token)
    {
        var areEmpty = await Task.WhenAll(clear.Stores.Select(
            node => _calls.HasNothingAsync(clear.Entry.Id, node, _stop.Token)));
        if (!areEmpty.All(static isEmpty => isEmpty)) return false;
        foreach (var name in (string[])[SalusVolume.NameOf(clear.Entry.Id), SalusVolume.LockOf(clear.Entry.Id)])
        {
            try
            {
                await _runtime.Directory.DeleteAsync(name, _stop.Token);
            }
            catch (TangoObjectNotFoundException)
            {
                // Deleted before, by an agent that went no further.
            }
            catch (TangoDirectoryException)
            {
                // Deleted at the same time.
            }
        }

        LogDeleted(clear.Name, clear.Entry.Id);
        // Last: while the name has its entry, the deletion is gone on with.
        return await ProposeAsync(clear, token, async () =>
        {
            await _map.Directory.RemoveAsync(clear.Name, _stop.Token);
            return null;
        });
    }

    [LoggerMessage(6, LogLevel.Warning, "Region {Region} gets generation {Generation}: {Why}")]
    private partial void LogReplaces(RegionKey region, long generation, string why);

    [LoggerMessage(7, LogLevel.Warning,
        "The process of store {Store} is expelled: {Why}. It takes part again under another incarnation; look at its "
        + "network and its disk")]
    private partial void LogExpels(StoreId store, string why);

    [LoggerMessage(8, LogLevel.Information, "{Step} of {Subject} was refused: {Why}")]
    private partial void LogRefused(string step, object subject, string why);

    [LoggerMessage(9, LogLevel.Information, "Volume {Name} ({Volume}) is deleted: no store has anything of it")]
    private partial void LogDeleted(string name, VolumeId volume);
}
