namespace Tango;

/// <summary>
/// On a type parameter of generic code of the user's that opens objects for it: the generator then makes the formatters
/// known of whatever the code is used with in a project.
/// </summary>
/// <example><c>class Repository&lt;[TangoStored] T&gt;</c>, which opens a <c>TangoDictionary&lt;string, T&gt;</c>, is
/// used as <c>Repository&lt;ImmutableList&lt;Order&gt;&gt;</c>.</example>
[AttributeUsage(AttributeTargets.GenericParameter)]
public sealed class TangoStoredAttribute : Attribute;
