namespace Salus.Region;

/// <summary>A process as a member of regions.</summary>
public sealed record ServerIdentity(StoreId Store, Signer Signer);
