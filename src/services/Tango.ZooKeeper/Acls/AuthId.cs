namespace Tango.ZooKeeper;

/// <summary>An identity by the rules of a scheme: a connection has proved it, or an access control list permits it
/// something.</summary>
public readonly record struct AuthId(string Scheme, string Id);
