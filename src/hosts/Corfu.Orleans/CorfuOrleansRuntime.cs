using Corfu.Client;
using Corfu.Extensions;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Runtime;
using Tango;

namespace Corfu.Orleans;

/// <summary>The runtime that the providers of a silo or a client share; a service of the silo, for providers in other
/// packages too.</summary>
public sealed partial class CorfuOrleansRuntime(
    IServiceProvider services, IOptions<CorfuOrleansOptions> options, TimeProvider time,
    ILogger<CorfuOrleansRuntime> logger)
    : ILifecycleParticipant<ISiloLifecycle>
{
    // Before anything of Orleans' that reads a membership table or a directory.
    private const int ConnectStage = ServiceLifecycleStage.RuntimeInitialize - 1;

    private static readonly TimeSpan s_retryDelay = TimeSpan.FromMilliseconds(200);

    /// <summary>A silo whose log cannot be reached does not start.</summary>
    public void Participate(ISiloLifecycle observer) =>
        observer.Subscribe(nameof(CorfuOrleansRuntime), ConnectStage, ConnectAsync);

    /// <summary>Connects if it is the first call.</summary>
    /// <exception cref="ClusterNotFoundException">No log there, for as long as the options say.</exception>
    public async Task<TangoRuntime> GetAsync(CancellationToken cancellationToken = default)
    {
        var host = Host();
        var start = time.GetTimestamp();
        while (true)
        {
            try
            {
                return await host.GetRuntimeAsync(cancellationToken);
            }
            catch (ClusterNotFoundException) when (time.GetElapsedTime(start) < options.Value.ConnectTimeout)
            {
                // Silos and their log are often started together.
                await Task.Delay(s_retryDelay, time, cancellationToken);
            }
        }
    }

    internal async Task<T> OpenAsync<T>(string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        var start = time.GetTimestamp();
        var opened = await (await GetAsync(cancellationToken)).OpenAsync<T>(name, mode, cancellationToken);
        LogOpened(name, (long)time.GetElapsedTime(start).TotalMilliseconds);
        return opened;
    }

    /// <summary>Deletes the object; nothing where there is none.</summary>
    internal async Task DeleteAsync(string name, CancellationToken cancellationToken)
    {
        var tango = await GetAsync(cancellationToken);
        try
        {
            await tango.Directory.DeleteAsync(name, cancellationToken);
        }
        catch (TangoDirectoryException)
        {
            // Another call may have deleted it meanwhile.
            if (await tango.Directory.ExistsAsync(name, cancellationToken)) throw;
        }
    }

    /// <summary>Deletes all objects whose names begin so.</summary>
    internal async Task DeleteAllAsync(string prefix, CancellationToken cancellationToken)
    {
        foreach (var entry in await (await GetAsync(cancellationToken)).Directory.ListAsync(cancellationToken))
        {
            if (entry.Name.StartsWith(prefix, StringComparison.Ordinal))
                await DeleteAsync(entry.Name, cancellationToken);
        }
    }

    private async Task ConnectAsync(CancellationToken cancellationToken)
    {
        try
        {
            await (await GetAsync(cancellationToken)).SyncAsync(cancellationToken);
        }
        catch (Exception e) when (e is ClusterNotFoundException || CorfuOrleansException.Covers(e))
        {
            LogNotConnected(e);
            throw new CorfuOrleansException($"The silo cannot start: it does not reach its log. {e.Message}", e);
        }
    }

    private ITangoHost Host() => options.Value.TangoKey is { } key
        ? services.GetRequiredKeyedService<ITangoHost>(key)
        : services.GetRequiredService<ITangoHost>();

    [LoggerMessage(LogLevel.Information, "{Name} is open and caught up after {Milliseconds} ms")]
    private partial void LogOpened(string name, long milliseconds);

    [LoggerMessage(LogLevel.Error, "The log of the Corfu providers cannot be reached")]
    private partial void LogNotConnected(Exception exception);
}

/// <summary>An object of a provider, opened by the first that needs it. An opening that failed is tried again by the
/// next; an object that was deleted is opened anew.</summary>
public sealed class SharedObject<T>(CorfuOrleansRuntime runtime, string name, OpenMode mode = OpenMode.Create)
    where T : TangoObject, ITangoObject<T>
{
    private readonly SemaphoreSlim _gate = new(1, 1);

    // Set under _gate.
    private T? _opened;

    /// <summary>The object's name.</summary>
    public string Name => name;

    /// <summary>The open object.</summary>
    public ValueTask<T> GetAsync(CancellationToken cancellationToken) =>
        Volatile.Read(ref _opened) is { } opened
        ? new(opened)
        : new(LoopContext.Pool.RunAsync(() => OpenAsync(cancellationToken)));

    /// <summary>Calls the object, and calls it again if it was deleted meanwhile.</summary>
    /// <param name="operation">For the message of an exception.</param>
    /// <exception cref="CorfuOrleansException">Tango or the log failed.</exception>
    public async Task<TResult> RunAsync<TResult>(
        string operation, Func<T, ValueTask<TResult>> call, CancellationToken cancellationToken)
    {
        try
        {
            while (true)
            {
                var opened = await GetAsync(cancellationToken);
                try
                {
                    return await call(opened);
                }
                catch (TangoObjectDeletedException e) when (e.ObjectName == name)
                {
                    Interlocked.CompareExchange(ref _opened, null, opened);
                }
            }
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e))
        {
            throw CorfuOrleansException.Of(operation, e);
        }
    }

    // Not in the turn of the grain that asks: others wait for the gate.
    private async Task<T> OpenAsync(CancellationToken cancellationToken)
    {
        await _gate.WaitAsync(cancellationToken);
        try
        {
            return _opened ??= await runtime.OpenAsync<T>(name, mode, cancellationToken);
        }
        finally
        {
            _gate.Release();
        }
    }
}
