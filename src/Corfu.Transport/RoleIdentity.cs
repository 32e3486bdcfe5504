using Corfu.Protocol;

namespace Corfu.Transport;

/// <summary>One role of a process and the identity behind it.</summary>
public readonly record struct RoleIdentity(NodeRole Role, NodeId Id);
