namespace Corfu.Hosting;

/// <summary>Handlers that a role serves in its process beside its own: of a part that comes and goes while the role
/// stays open. Any thread.</summary>
public interface IRoleHandlers
{
    /// <returns>False: the process stops, and serves nothing more.</returns>
    /// <exception cref="InvalidOperationException">The identity is served already.</exception>
    bool Add(IRoleHandler handler);

    /// <summary>Ends the connections to the handler. Requests that it has taken may still finish, without an
    /// answer.</summary>
    /// <returns>False: the identity is not served.</returns>
    bool Remove(NodeId id);
}

/// <summary>A role that is opened without a process.</summary>
internal sealed class NoHandlers : IRoleHandlers
{
    public static NoHandlers Instance { get; } = new();

    public bool Add(IRoleHandler handler) => false;

    public bool Remove(NodeId id) => false;
}
