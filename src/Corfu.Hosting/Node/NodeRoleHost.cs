using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;

namespace Corfu.Hosting;

/// <summary>One role in this process, with the folder it works in.</summary>
internal sealed class NodeRoleHost : IAsyncDisposable
{
    private readonly Func<ValueTask> _close;
    private readonly Func<Exception?> _failure;

    private NodeRoleHost(IRoleHandler handler, Func<ValueTask> close, Func<Exception?> failure)
    {
        Handler = handler;
        _close = close;
        _failure = failure;
    }

    public IRoleHandler Handler { get; }

    /// <summary>Why the role serves nothing any more, or null.</summary>
    public string? Fault => _failure() is { } failure ? $"The {Handler.Role} {Handler.Id} has failed: {failure.Message}" : null;

    public static Task<NodeRoleHost> OpenAsync(NodeOptions node, NodeRoleOptions role, ILoggerFactory loggers, TimeProvider time) =>
        throw new NotSupportedException($"{node} {role} {loggers} {time}");

    public ValueTask DisposeAsync() => _close();

    internal static NodeRoleHost Of(IRoleHandler handler, Func<ValueTask> close, Func<Exception?> failure) => new(handler, close, failure);
}
