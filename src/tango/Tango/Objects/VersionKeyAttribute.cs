namespace Tango;

/// <summary>
/// Marks the parameter of a mutator or accessor that names the disjoint part of the object the operation touches (Tango
/// 3.2, Versioning). Several marked parameters form one key, in declaration order. The operation must then neither
/// read nor change anything outside that key. Without it the operation concerns the whole object.
/// </summary>
// Conflicts are found by the versions of keys: an effect outside the key would be missed (R18).
[AttributeUsage(AttributeTargets.Parameter, Inherited = false)]
public sealed class VersionKeyAttribute : Attribute;
