namespace Tango.Model;

/// <summary>A member of a cohort whose checkpoint is loaded.</summary>
/// <param name="Type">Null: versions only, no view.</param>
internal sealed record CohortMember(DirectoryEntry Entry, TangoObjectType? Type);
