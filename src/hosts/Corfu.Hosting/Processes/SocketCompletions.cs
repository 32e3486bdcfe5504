namespace Corfu.Hosting;

/// <summary>Which threads of a node's process go on where a socket is ready.</summary>
internal static class SocketCompletions
{
    /// <summary>Read once by .NET, before the first use of a socket in the process.</summary>
    private const string Variable = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    private static bool s_isSet;

    /// <summary>The thread that learns that a socket is ready handles its messages, in a node that is a sequencer
    /// alone. The pool would take two more threads for each message, and a thread's wake costs more than a message
    /// does. A sequencer never waits: it takes a short lock. A unit waits for its disk where it looks up an old
    /// position, an acceptor writes, front ends run others' code: their nodes keep to the pool, where a thread that
    /// waits holds up no other connection. Set by hand, the variable stays as it is.</summary>
    public static void Choose(NodeOptions options)
    {
        if (!IsSequencerAlone(options) || Environment.GetEnvironmentVariable(Variable) is not null) return;
        Environment.SetEnvironmentVariable(Variable, "1");
        s_isSet = true;
    }

    /// <summary>Sockets are in use. Processes that this one starts choose for themselves.</summary>
    public static void Forget()
    {
        if (!s_isSet) return;
        Environment.SetEnvironmentVariable(Variable, null);
        s_isSet = false;
    }

    internal static bool IsSequencerAlone(NodeOptions options) =>
        options.FrontEnds.Count == 0 && options.Roles.All(role => role.Role == NodeRole.Sequencer);
}
