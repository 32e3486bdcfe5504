using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>A unit's data folder cannot be used; the message says why and is meant for the operator.</summary>
public sealed class UnitFolderException(string message, Exception? inner = null) : CorfuException(message, inner);
