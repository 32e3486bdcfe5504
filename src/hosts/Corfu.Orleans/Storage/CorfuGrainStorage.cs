using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Serializers;
using Orleans.Storage;
using Tango;
using Tango.Collections;

namespace Corfu.Orleans.Storage;

/// <summary>Grain states as an object of the log. A write is one append and one round trip, and compares etags where it
/// is applied; a read is linearizable.</summary>
internal sealed partial class CorfuGrainStorage(
    string name, CorfuGrainStorageOptions options, CorfuOrleansRuntime runtime, ObjectNames names,
    IActivatorProvider activators, TimeProvider time, ILogger<CorfuGrainStorage> logger)
    : IGrainStorage, ILifecycleParticipant<ISiloLifecycle>
{
    // The options choose which of the two is used.
    private readonly SharedObject<StateTable> _table = new(runtime, names.State(name));
    private readonly SharedObject<StateIndex> _index = new(runtime, names.State(name));

    // Activations do not wait for the replay of the object's history.
    public void Participate(ISiloLifecycle observer)
    {
        observer.Subscribe($"{nameof(CorfuGrainStorage)}-{name}", ServiceLifecycleStage.ApplicationServices,
            async token => await StatesAsync(token));
        if (!options.KeepStatesInLog) return;
        var compactor = NewCompactor();
        observer.Subscribe($"{nameof(StateCompactor)}-{name}", ServiceLifecycleStage.Active, _ =>
        {
            compactor.Start();
            return Task.CompletedTask;
        }, _ => compactor.StopAsync());
    }

    internal StateCompactor NewCompactor() => new(
        _index, new SharedObject<TangoLock>(runtime, names.StateCompaction(name)), runtime, options, time, logger);

    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        ReadStateAsync(stateName, grainId, grainState, CancellationToken.None);

    public async Task ReadStateAsync<T>(
        string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        var key = GrainKeys.Of(stateName, grainId);
        StoredState? stored;
        try
        {
            stored = await FindAsync(key, cancellationToken);
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            throw Failed("Reading", stateName, grainId, e);
        }

        grainState.State = stored is null ? NewState<T>() : Deserialize<T>(stored.Bytes);
        grainState.RecordExists = stored is not null;
        grainState.ETag = stored?.Etag.ToString("N");
    }

    public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        WriteStateAsync(stateName, grainId, grainState, CancellationToken.None);

    public async Task WriteStateAsync<T>(
        string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        var key = GrainKeys.Of(stateName, grainId);
        var seen = ParseEtag("Writing", stateName, grainId, grainState.ETag);
        var next = Guid.NewGuid();
        ReadOnlyMemory<byte> bytes = options.GrainStorageSerializer.Serialize(grainState.State);
        if (bytes.Length > options.MaxStateBytes)
        {
            throw new CorfuOrleansException($"State '{stateName}' of grain {grainId} has {bytes.Length} bytes; "
                + $"MaxStateBytes of grain storage '{name}' is {options.MaxStateBytes}.");
        }

        StateChange change;
        try
        {
            change = await WriteAsync(key, bytes, seen, next, cancellationToken);
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            throw Failed("Writing", stateName, grainId, e);
        }

        if (!change.IsDone) throw Conflict("Writing", stateName, grainId, change.Etag, grainState.ETag);
        grainState.ETag = next.ToString("N");
        grainState.RecordExists = true;
    }

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        ClearStateAsync(stateName, grainId, grainState, CancellationToken.None);

    public async Task ClearStateAsync<T>(
        string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken)
    {
        var key = GrainKeys.Of(stateName, grainId);
        var seen = ParseEtag("Clearing", stateName, grainId, grainState.ETag);
        StateChange change;
        try
        {
            change = await ClearAsync(key, seen, cancellationToken);
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            throw Failed("Clearing", stateName, grainId, e);
        }

        if (!change.IsDone) throw Conflict("Clearing", stateName, grainId, change.Etag, grainState.ETag);
        grainState.State = NewState<T>();
        grainState.ETag = null;
        grainState.RecordExists = false;
    }

    private async Task<StoredState?> FindAsync(string key, CancellationToken cancellationToken)
    {
        return await (await StatesAsync(cancellationToken)).FindAsync(key, cancellationToken);
    }

    private async Task<StateChange> ClearAsync(string key, Guid seen, CancellationToken cancellationToken)
    {
        return await (await StatesAsync(cancellationToken)).ClearAsync(key, seen, cancellationToken);
    }

    /// <summary>Writes a state. In doubt, the stored etag may tell the outcome. The write's own etag: the write took
    /// effect. Neither that nor the etag that the grain has seen: the write did not take effect and never will, for no
    /// etag comes back, except that of no state.</summary>
    private async Task<StateChange> WriteAsync(string key, ReadOnlyMemory<byte> bytes, Guid seen, Guid next,
        CancellationToken cancellationToken)
    {
        var states = await StatesAsync(cancellationToken);
        try
        {
            return await states.WriteAsync(key, bytes, seen, next, cancellationToken);
        }
        catch (TangoInDoubtException e) when (!cancellationToken.IsCancellationRequested)
        {
            LogInDoubt(e, key);
            var stored = await EtagOrNullAsync(states, key, cancellationToken);
            if (stored == next) return new StateChange(true, next);
            if (stored is { } other && other != seen && seen != Guid.Empty) return new StateChange(false, other);
            throw;
        }
    }

    /// <returns>The empty one for no state; null if it cannot be read.</returns>
    private static async Task<Guid?> EtagOrNullAsync(
        IStates states, string key, CancellationToken cancellationToken)
    {
        try
        {
            return (await states.FindAsync(key, cancellationToken))?.Etag ?? Guid.Empty;
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            // The caller gets the outcome of the write, which is not known, and not this error.
            return null;
        }
    }

    /// <exception cref="TangoDirectoryException">The states were stored with the other choice.</exception>
    private async ValueTask<IStates> StatesAsync(CancellationToken cancellationToken) => options.KeepStatesInLog
        ? await _index.GetAsync(cancellationToken)
        : await _table.GetAsync(cancellationToken);

    private T NewState<T>() => activators.GetActivator<T>().Create();

    private T Deserialize<T>(ImmutableArray<byte> bytes) => options.GrainStorageSerializer.Deserialize<T>(
        new BinaryData(ImmutableCollectionsMarshal.AsArray(bytes)!))!;

    /// <exception cref="InconsistentStateException">The etag is not of this provider, so no state has it.</exception>
    private Guid ParseEtag(string operation, string stateName, GrainId grainId, string? etag)
    {
        if (string.IsNullOrEmpty(etag)) return Guid.Empty;
        return Guid.TryParseExact(etag, "N", out var parsed) && parsed != Guid.Empty
            ? parsed
            : throw new InconsistentStateException(
                $"{operation} state '{stateName}' of grain {grainId} in '{name}': its etag is none of Corfu's",
                "unknown", etag);
    }

    private InconsistentStateException Conflict(
        string operation, string stateName, GrainId grainId, Guid stored, string? seen) => new(
            $"{operation} state '{stateName}' of grain {grainId} in '{name}': it was changed since it was read",
            stored == Guid.Empty ? "none" : stored.ToString("N"), seen ?? "none");

    private CorfuOrleansException Failed(string operation, string stateName, GrainId grainId, Exception reason)
    {
        LogFailed(reason, operation, stateName, grainId, name);
        return CorfuOrleansException.Of($"{operation} state '{stateName}' of grain {grainId} in '{name}'", reason);
    }

    [LoggerMessage(LogLevel.Error, "{Operation} state {State} of grain {Grain} in {Storage} failed")]
    private partial void LogFailed(Exception exception, string operation, string state, GrainId grain, string storage);

    [LoggerMessage(LogLevel.Warning, "The outcome of a write to {Key} is in doubt; the state is read")]
    private partial void LogInDoubt(Exception exception, string key);
}
