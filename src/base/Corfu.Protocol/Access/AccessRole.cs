namespace Corfu.Protocol;

/// <summary>The rights that a certificate gives its holder. Each role may do what the ones below it may.</summary>
public enum AccessRole : byte
{
    None = 0,

    /// <summary>Calls front ends, with the rights that the operator grants it; nothing at the cluster's port.</summary>
    Caller = 1,

    /// <summary>Reads, appends and trims the whole log; changes no membership.</summary>
    Client = 2,

    /// <summary>Changes membership and automation.</summary>
    Admin = 3,

    /// <summary>A process of the cluster.</summary>
    Node = 4,
}
