namespace Salus.Region.Body;

/// <summary>What this member has of the region is not what its members have agreed upon, and no second attempt makes it
/// so: the member must be replaced.</summary>
internal sealed class DivergedBodyException(string message, Exception? inner = null) : Exception(message, inner);
