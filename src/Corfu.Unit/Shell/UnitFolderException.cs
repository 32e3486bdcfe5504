using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>A unit's data folder cannot be used; the message says why and is meant for the operator.</summary>
public sealed class UnitFolderException(string message, Exception? inner = null) : CorfuException(message, inner)
{
    /// <summary>What the unit had stored is gone, so it can never serve again under its identity (R2).</summary>
    public bool IsLoss { get; init; }
}
