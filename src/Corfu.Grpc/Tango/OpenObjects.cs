using System.Collections.Concurrent;
using Corfu.Extensions;
using Microsoft.Extensions.Options;
using Tango;

namespace Corfu.Grpc;

/// <summary>The objects that calls have named, open in the host's runtime under those names.</summary>
internal sealed class OpenObjects(ITangoHost host, IOptions<CorfuGrpcOptions> options)
{
    // What the directory takes.
    private const int MaxNameLength = 512;

    private readonly ConcurrentDictionary<string, TangoObject> _open = new(StringComparer.Ordinal);

    public Task<TangoRuntime> RuntimeAsync(CancellationToken cancellationToken) =>
        host.GetRuntimeAsync(cancellationToken);

    /// <exception cref="TangoObjectNotFoundException">There is none.</exception>
    /// <exception cref="TangoDirectoryException">It is of another type.</exception>
    public ValueTask<T> GetAsync<T>(string name, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T> =>
        _open.TryGetValue(name, out var known) && known is T open
            ? new ValueTask<T>(open)
            : OpenAsync<T>(name, OpenMode.Existing, cancellationToken);

    public async ValueTask<T> OpenAsync<T>(string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        RequireName(name);
        var limit = options.Value.Tango.MaxOpenObjects;
        if (_open.Count >= limit && !_open.ContainsKey(name))
            throw new FrontEndLimitException(nameof(TangoGrpcOptions.MaxOpenObjects), limit);
        var runtime = await RuntimeAsync(cancellationToken);
        var opened = await runtime.OpenAsync<T>(name, mode, cancellationToken);
        _open[name] = opened;
        return opened;
    }

    /// <summary>Uses an object. A name may be of another object since: one that was deleted is looked up anew, once.
    /// </summary>
    public async Task<TResult> UseAsync<T, TResult>(
        string name, Func<T, Task<TResult>> use, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        try
        {
            return await use(await GetAsync<T>(name, cancellationToken));
        }
        catch (TangoObjectDeletedException e) when (Forget(e))
        {
            return await use(await GetAsync<T>(name, cancellationToken));
        }
    }

    /// <returns>False: it was not known.</returns>
    public bool Forget(TangoObjectDeletedException deleted) => _open.TryRemove(deleted.ObjectName, out _);

    public static void RequireName(string name)
    {
        if (name.Length is 0 or > MaxNameLength)
            throw new RequestException($"object: a name has between 1 and {MaxNameLength} characters.");
    }
}
