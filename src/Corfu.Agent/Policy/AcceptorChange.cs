using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>An acceptor of the layout gives its place to another.</summary>
public readonly record struct AcceptorChange(NodeAddress Old, NodeAddress New);
