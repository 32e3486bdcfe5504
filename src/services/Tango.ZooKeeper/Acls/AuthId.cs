namespace Tango.ZooKeeper;

/// <summary>Somebody by the rules of a scheme: of a caller what its connection has proved, of an access control list
/// what is permitted.</summary>
public readonly record struct AuthId(string Scheme, string Id);
