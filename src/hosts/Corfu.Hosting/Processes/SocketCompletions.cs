namespace Corfu.Hosting;

/// <summary>Which threads of a node's process go on where a socket is ready.</summary>
internal static class SocketCompletions
{
    /// <summary>Read once by .NET, before the first use of a socket in the process.</summary>
    public const string Variable = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    /// <summary>The thread that learns that a socket is ready handles its messages, in a node that orders and keeps the
    /// log and does nothing else. The pool would take two more threads for each message, and a thread's wake costs more
    /// than a message does. Handlers of these roles do not block: they take a short lock, and what waits for the disk
    /// is answered by another thread. Other roles and front ends may block, so their nodes keep to the pool. Set by
    /// hand, the variable stays as it is.</summary>
    public static void Choose(NodeOptions options)
    {
        if (IsLogAlone(options) && Environment.GetEnvironmentVariable(Variable) is null)
            Environment.SetEnvironmentVariable(Variable, "1");
    }

    internal static bool IsLogAlone(NodeOptions options) =>
        options.FrontEnds.Count == 0
        && options.Roles.All(role => role.Role is NodeRole.Unit or NodeRole.Sequencer or NodeRole.Acceptor);
}
